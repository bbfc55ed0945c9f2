set constraints all immediate;
alter table messages drop constraint messages_sound,
  add constraint messages_content check ((role = 'user') = (content is not null) and (role = 'assistant') = (generation_id is not null)),
  add constraint messages_role_check check (role in ('user', 'assistant'));
alter table generation_parts drop constraint generation_parts_sound,
  add constraint generation_parts_content check ((kind = 'text') = (text is not null) and (kind = 'text') = (detail is null)),
  add constraint generation_parts_kind_check check (kind in ('text', 'picture', 'sound', 'clip', 'sources', 'file')),
  add constraint generation_parts_place_check check (place > 0);
alter table generations drop constraint generations_sound,
  add constraint generations_check check (charged_credits >= 0 and charged_credits <= quoted_credits),
  add constraint generations_check1 check ((status = 'streaming') = (ended_at is null)),
  add constraint generations_check2 check ((status = 'streaming') = (charged_credits is null)),
  add constraint generations_check3 check (not cut_short or status = 'completed'),
  add constraint generations_cost_micro_dollars_check check (cost_micro_dollars >= 0),
  add constraint generations_idempotency_key_check check (length(idempotency_key) between 8 and 200),
  add constraint generations_quoted_credits_check check (quoted_credits > 0),
  add constraint generations_status_check check (status in ('streaming', 'completed', 'stopped', 'failed'));
drop function generation_is_sound, generation_part_is_sound, message_is_sound;
drop index generations_running_of_payer;
create index generations_running_of_payer on generations (payer_id) where status = 'streaming';
drop index generations_running_user;
create index generations_running_user on generations (user_id) where status = 'streaming';
drop index generations_lease;
create index generations_running on generations (lease_expires_at) where status = 'streaming';
drop index holds_deadline;
create index holds_open on holds (deadline) where state = 'open';
