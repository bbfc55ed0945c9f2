-- A refused send is an outcome of answer_start and no exception: a batch of starts goes on in the same statement whatever becomes of one
-- of them, and what was refused is written down, so that refused sends count towards the person's rate.
create table refused_sends (
  user_id uuid primary key references users on delete cascade,
  -- Those of the last minute, by PostgreSQL's clock.
  refused_at timestamptz[] not null
);

drop function answer_start;

-- Starts an answer: limits, conversation, hold, the row and the person's message. The wallet's row is locked first, so
-- that a person's limits and keys are judged one send at a time. `outcome` says what became of it, with the figures that a refusal
-- needs. p_refused: the caller has found a reason to refuse it, which counts unless the key is known.
-- A send over the rate is not written down: who goes on asking waits no longer for it.
-- p_now is business time. Rate, lease and hold go by PostgreSQL's own time, so that a process whose clock is wrong ends
-- nobody's answer and refuses or grants nobody a question.
create function answer_start(
  p_id uuid, p_user uuid, p_model text, p_key text, p_hash bytea, p_credits bigint, p_kinds text[], p_refused boolean,
  p_conversation uuid, p_title text, p_prompt text, p_trimmed integer, p_per_minute integer, p_at_once integer,
  p_owner uuid, p_lease_ms integer, p_hold_ms integer, p_now timestamptz
) returns table (outcome text, generation_id uuid, conversation_id uuid, retry_after_ms bigint, available bigint) language plpgsql as $$
declare
  wallet record;
  known record;
  v_clock timestamptz;
  v_oldest timestamptz;
begin
  -- The first word need not wait for the disk: a crash of PostgreSQL within the next flush of the log (a quarter of a
  -- second) forgets the question together with its hold, and nothing was charged. Every end waits, and this with it.
  perform set_config('synchronous_commit', 'off', true);
  select w.id, w.frozen_at into wallet from wallets w where w.user_id = p_user for update;
  -- Only now: the wallet may have been waited for.
  v_clock := clock_timestamp();
  select g.id, g.conversation_id, g.request_hash into known from generations g where g.user_id = p_user and g.idempotency_key = p_key;
  if found then
    outcome := case when known.request_hash = p_hash then 'known' else 'conflict' end;
    generation_id := known.id;
    conversation_id := known.conversation_id;
    return next;
    return;
  end if;
  select sent.at into v_oldest from (
      (select g.asked_at as at from generations g where g.user_id = p_user and g.asked_at > v_clock - interval '1 minute'
        order by g.asked_at desc limit p_per_minute)
      union all select unnest(r.refused_at) from refused_sends r where r.user_id = p_user
    ) sent order by sent.at desc offset p_per_minute - 1 limit 1;
  if v_oldest > v_clock - interval '1 minute' then
    outcome := 'rate_limited';
    retry_after_ms := extract(epoch from v_oldest + interval '1 minute' - v_clock) * 1000;
    return next;
    return;
  end if;
  available := ledger_available(p_user, p_kinds, p_now);
  outcome := case
    when p_refused then 'refused'
    when wallet.id is null then 'no_wallet'
    when wallet.frozen_at is not null then 'wallet_frozen'
    when (select count(*) from generations g where g.user_id = p_user and g.status = 'streaming' and g.lease_expires_at > v_clock) >= p_at_once
      then 'too_many_answers'
    when available < p_credits then 'insufficient_credits'
    else 'created' end;
  conversation_id := p_conversation;
  if outcome = 'created' and p_conversation is null then
    insert into conversations (user_id, title, created_at, updated_at) values (p_user, p_title, p_now, p_now) returning id into conversation_id;
  elsif outcome = 'created' then
    update conversations c set updated_at = greatest(c.updated_at, p_now) where c.id = p_conversation and c.user_id = p_user;
    if not found then outcome := 'no_conversation'; end if;
  end if;
  if outcome <> 'created' then
    insert into refused_sends as before (user_id, refused_at) values (p_user, array[v_clock])
      on conflict (user_id) do update set refused_at = v_clock || array(
        select refused.at from unnest(before.refused_at) refused (at) where refused.at > v_clock - interval '1 minute' order by refused.at desc);
    return next;
    return;
  end if;
  perform ledger_hold(p_id, wallet.id, p_credits, p_kinds, p_now, v_clock + p_hold_ms * interval '1 millisecond', v_clock);
  insert into generations (id, user_id, conversation_id, model_id, idempotency_key, request_hash, quoted_credits, trimmed_messages,
      lease_owner, lease_expires_at, created_at, asked_at)
    values (p_id, p_user, conversation_id, p_model, p_key, p_hash, p_credits, p_trimmed, p_owner, v_clock + p_lease_ms * interval '1 millisecond', p_now,
      v_clock);
  insert into messages (conversation_id, generation_id, role, content, created_at) values (conversation_id, p_id, 'user', p_prompt, p_now);
  generation_id := p_id;
  return next;
end $$;
