-- The highest counter of a refresh token whose client has used what it received: until it is the current one, the token before is accepted,
-- because the response may have been lost (docs/decisions/0006). Null for sign-ins that were not refreshed since.
alter table auth_sessions add column received_counter integer;
