drop function answer_start, answer_end, ledger_available;
drop index generations_recent;
create index generations_recent on generations (user_id, created_at desc);
alter table generations drop column asked_at;
create function answer_start(
  p_id uuid, p_user uuid, p_model text, p_key text, p_hash bytea, p_credits bigint, p_kinds text[],
  p_conversation uuid, p_title text, p_prompt text, p_trimmed integer, p_per_minute integer, p_at_once integer,
  p_owner uuid, p_lease_until timestamptz, p_deadline timestamptz, p_now timestamptz, p_wall timestamptz
) returns table (outcome text, generation_id uuid, conversation_id uuid, retry_after_ms bigint) language plpgsql as $$
declare
  v_wallet uuid;
  v_conversation uuid := p_conversation;
  known record;
  v_oldest timestamptz;
begin
  -- The first word need not wait for the disk: a crash of PostgreSQL within the next flush of the log (a quarter of a
  -- second) forgets the question together with its hold, and nothing was charged. Every end waits, and this with it.
  perform set_config('synchronous_commit', 'off', true);
  select w.id into v_wallet from wallets w where w.user_id = p_user for update;
  if not found then
    return query select 'no_wallet', null::uuid, null::uuid, null::bigint;
    return;
  end if;
  select g.id, g.conversation_id, g.request_hash into known from generations g where g.user_id = p_user and g.idempotency_key = p_key;
  if found then
    return query select case when known.request_hash = p_hash then 'known' else 'conflict' end, known.id, known.conversation_id, null::bigint;
    return;
  end if;
  select uuid_extract_timestamp(g.id) into v_oldest from generations g where g.user_id = p_user
    order by g.created_at desc offset p_per_minute - 1 limit 1;
  if v_oldest > p_wall - interval '1 minute' then
    return query select 'rate_limited', null::uuid, null::uuid,
      (extract(epoch from v_oldest + interval '1 minute' - p_wall) * 1000)::bigint;
    return;
  end if;
  if (select count(*) from generations g where g.user_id = p_user and g.status = 'streaming' and g.lease_expires_at > p_wall) >= p_at_once then
    return query select 'too_many_answers', null::uuid, null::uuid, null::bigint;
    return;
  end if;
  if v_conversation is null then
    insert into conversations (user_id, title, created_at, updated_at) values (p_user, p_title, p_now, p_now) returning id into v_conversation;
  else
    update conversations c set updated_at = greatest(c.updated_at, p_now) where c.id = v_conversation and c.user_id = p_user;
    if not found then
      return query select 'no_conversation', null::uuid, null::uuid, null::bigint;
      return;
    end if;
  end if;
  perform ledger_hold(p_id, v_wallet, p_credits, p_kinds, p_now, p_deadline, p_wall);
  insert into generations (id, user_id, conversation_id, model_id, idempotency_key, request_hash, quoted_credits, trimmed_messages,
      lease_owner, lease_expires_at, created_at)
    values (p_id, p_user, v_conversation, p_model, p_key, p_hash, p_credits, p_trimmed, p_owner, p_lease_until, p_now);
  insert into messages (conversation_id, generation_id, role, content, created_at) values (v_conversation, p_id, 'user', p_prompt, p_now);
  return query select 'created', p_id, v_conversation, null::bigint;
end $$;

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
