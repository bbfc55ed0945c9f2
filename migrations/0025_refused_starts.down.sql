drop function answer_start;

-- Starts an answer: limits, conversation, hold, the row and the person's message. The wallet's row is locked first, so
-- that a person's limits and keys are judged one send at a time. `outcome` says what became of it; nothing is written
-- unless it is 'created'. The ledger's refusals (TS402, TS423) are raised.
-- p_now is business time. Rate, lease and hold go by PostgreSQL's own time, so that a process whose clock is wrong ends
-- nobody's answer and refuses or grants nobody a question.
create function answer_start(
  p_id uuid, p_user uuid, p_model text, p_key text, p_hash bytea, p_credits bigint, p_kinds text[],
  p_conversation uuid, p_title text, p_prompt text, p_trimmed integer, p_per_minute integer, p_at_once integer,
  p_owner uuid, p_lease_ms integer, p_hold_ms integer, p_now timestamptz
) returns table (outcome text, generation_id uuid, conversation_id uuid, retry_after_ms bigint) language plpgsql as $$
declare
  v_wallet uuid;
  v_conversation uuid := p_conversation;
  known record;
  v_oldest timestamptz;
  v_clock timestamptz;
begin
  -- The first word need not wait for the disk: a crash of PostgreSQL within the next flush of the log (a quarter of a
  -- second) forgets the question together with its hold, and nothing was charged. Every end waits, and this with it.
  perform set_config('synchronous_commit', 'off', true);
  select w.id into v_wallet from wallets w where w.user_id = p_user for update;
  if not found then
    return query select 'no_wallet', null::uuid, null::uuid, null::bigint;
    return;
  end if;
  -- Only now: the wallet may have been waited for.
  v_clock := clock_timestamp();
  select g.id, g.conversation_id, g.request_hash into known from generations g where g.user_id = p_user and g.idempotency_key = p_key;
  if found then
    return query select case when known.request_hash = p_hash then 'known' else 'conflict' end, known.id, known.conversation_id, null::bigint;
    return;
  end if;
  select g.asked_at into v_oldest from generations g where g.user_id = p_user
    order by g.asked_at desc offset p_per_minute - 1 limit 1;
  if v_oldest > v_clock - interval '1 minute' then
    return query select 'rate_limited', null::uuid, null::uuid,
      (extract(epoch from v_oldest + interval '1 minute' - v_clock) * 1000)::bigint;
    return;
  end if;
  if (select count(*) from generations g where g.user_id = p_user and g.status = 'streaming' and g.lease_expires_at > v_clock) >= p_at_once then
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
  perform ledger_hold(p_id, v_wallet, p_credits, p_kinds, p_now,
    v_clock + p_hold_ms * interval '1 millisecond', v_clock);
  insert into generations (id, user_id, conversation_id, model_id, idempotency_key, request_hash, quoted_credits, trimmed_messages,
      lease_owner, lease_expires_at, created_at, asked_at)
    values (p_id, p_user, v_conversation, p_model, p_key, p_hash, p_credits, p_trimmed, p_owner, v_clock + p_lease_ms * interval '1 millisecond', p_now,
      v_clock);
  insert into messages (conversation_id, generation_id, role, content, created_at) values (v_conversation, p_id, 'user', p_prompt, p_now);
  return query select 'created', p_id, v_conversation, null::bigint;
end $$;

drop table refused_sends;
