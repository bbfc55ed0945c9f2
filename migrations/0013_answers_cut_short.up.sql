-- An answer that reached its model's limit is complete as far as the provider goes and stops in the middle all the same:
-- it is charged, and its receipt says so.
alter table generations add column cut_short boolean not null default false check (not cut_short or status = 'completed');

drop function answer_end;
-- Ends an answer once: the hold, the assistant's message, the last of the log and the receipt. Its owner ends it, or,
-- with p_owner null, anybody whose p_wall is past the lease. Returns the row as it then is, ended now or before.
-- What is charged is what the hold gave: a hold released at its deadline charges nothing.
create function answer_end(
  p_id uuid, p_owner uuid, p_status text, p_failure text, p_cut_short boolean, p_charge bigint, p_text text, p_prompt_tokens integer, p_completion_tokens integer,
  p_first_event integer, p_last_event integer, p_frames text, p_now timestamptz, p_wall timestamptz
) returns setof generations language plpgsql as $$
declare
  target generations;
  hold_end record;
begin
  -- Not `for update`: the log's rows refer to this one, and an insert into the log must not wait here while we wait for it.
  select * into target from generations g where g.id = p_id for no key update;
  if not found then return; end if;
  if target.status <> 'streaming' or (p_owner is null and target.lease_expires_at >= p_wall) or (p_owner is not null and target.lease_owner <> p_owner) then
    return next target;
    return;
  end if;
  select * into hold_end from ledger_end_hold(p_id, p_charge, 'capture:' || p_id, p_now, p_wall);
  if p_first_event is not null then
    insert into generation_events as known (generation_id, first_event, last_event, frames) values (p_id, p_first_event, p_last_event, p_frames)
      on conflict (generation_id, first_event) do update set last_event = excluded.last_event, frames = excluded.frames
      where known.last_event < excluded.last_event;
  end if;
  if target.conversation_id is not null then
    if p_text <> '' then
      insert into messages (conversation_id, generation_id, role, content, created_at)
        values (target.conversation_id, p_id, 'assistant', p_text, p_now);
    end if;
    update conversations c set updated_at = greatest(c.updated_at, p_now) where c.id = target.conversation_id;
  end if;
  return query update generations g set status = p_status, failure_code = p_failure, cut_short = p_cut_short, charged_credits = hold_end.captured,
      available_after = greatest(hold_end.balance - hold_end.held, 0), prompt_tokens = p_prompt_tokens,
      completion_tokens = p_completion_tokens, ended_at = p_now
    where g.id = p_id returning g.*;
end $$;
