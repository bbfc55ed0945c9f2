-- What the rows of running answers cost (decision 43): their indexes, and the checks of what an answer writes.

-- At any time few answers run and few holds are open, often none when PostgreSQL counts. It then takes all indexes over them for equally cheap,
-- and read every running answer, and what those that have ended leave in the index until the next vacuum, for the ones of one person or wallet.
-- The sweeps' indexes now have a condition that only the sweeps name; by the checks it says the same. Those by person and by payer are for
-- statements that name a person or a payer.
drop index holds_open;
create index holds_deadline on holds (deadline) where ended_at is null;
drop index generations_running;
create index generations_lease on generations (lease_expires_at) where ended_at is null;
drop index generations_running_user;
create index generations_running_user on generations (user_id) where status = 'streaming' and user_id is not null;
drop index generations_running_of_payer;
create index generations_running_of_payer on generations (payer_id) where status = 'streaming' and payer_id is not null;

-- One check that calls a function instead of several, as in 0038.
create function generation_is_sound(
  p_key text, p_status text, p_quoted bigint, p_charged bigint, p_cost bigint, p_cut_short boolean, p_has_ended boolean
) returns boolean language plpgsql immutable as $$
begin
  return length(p_key) between 8 and 200 and p_quoted > 0 and coalesce(p_cost >= 0, true)
    and case p_status
      when 'streaming' then not p_has_ended and p_charged is null and not p_cut_short
      when 'completed' then p_has_ended and coalesce(p_charged between 0 and p_quoted, false)
      when 'stopped' then p_has_ended and coalesce(p_charged between 0 and p_quoted, false) and not p_cut_short
      when 'failed' then p_has_ended and coalesce(p_charged between 0 and p_quoted, false) and not p_cut_short
      else false end;
end $$;
create function generation_part_is_sound(p_place smallint, p_kind text, p_has_text boolean, p_has_detail boolean)
returns boolean language plpgsql immutable as $$
begin
  return p_place > 0 and case p_kind
    when 'text' then p_has_text and not p_has_detail
    else p_kind in ('picture', 'sound', 'clip', 'sources', 'file') and not p_has_text and p_has_detail end;
end $$;
create function message_is_sound(p_role text, p_has_content boolean, p_has_generation boolean) returns boolean language plpgsql immutable as $$
begin
  return case p_role
    when 'user' then p_has_content and not p_has_generation
    when 'assistant' then not p_has_content and p_has_generation
    else false end;
end $$;

set constraints all immediate;
alter table generations
  drop constraint generations_check, drop constraint generations_check1, drop constraint generations_check2, drop constraint generations_check3,
  drop constraint generations_cost_micro_dollars_check, drop constraint generations_idempotency_key_check,
  drop constraint generations_quoted_credits_check, drop constraint generations_status_check,
  add constraint generations_sound check (
    generation_is_sound(idempotency_key, status, quoted_credits, charged_credits, cost_micro_dollars, cut_short, ended_at is not null));
alter table generation_parts
  drop constraint generation_parts_content, drop constraint generation_parts_kind_check, drop constraint generation_parts_place_check,
  add constraint generation_parts_sound check (generation_part_is_sound(place, kind, text is not null, detail is not null));
alter table messages
  drop constraint messages_content, drop constraint messages_role_check,
  add constraint messages_sound check (message_is_sound(role, content is not null, generation_id is not null));
