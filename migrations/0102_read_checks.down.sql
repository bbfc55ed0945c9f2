-- A validated check can't become a `not valid` one again, so each is dropped and made anew.
alter table generations
  drop constraint generations_filter_reason,
  drop constraint generations_searches,
  drop constraint generations_thinking_tokens,
  add constraint generations_filter_reason check (filter_reason is null or (filter_reason ~ '^[a-z_]{1,30}$' and failure_code is not distinct from 'content_filtered')) not valid,
  add constraint generations_searches check (searches between 0 and 10000) not valid,
  add constraint generations_thinking_tokens check (thinking_tokens >= 0) not valid;
