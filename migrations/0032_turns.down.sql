drop trigger generations_erase on generations;
drop trigger generations_erase_log on generations;
drop trigger conversations_erase_answers on conversations;
drop function generation_erase, generation_erase_log, conversation_erase_answers, answers_erase, turn_start, answer_start, answer_end;

-- Before this an answer has a hold of its own: those that share one are interrupted, and what is left of their holds is released.
create temporary table shared_holds on commit drop as
  select distinct g.hold_id as id from generations g where g.status = 'streaming' and g.hold_id <> g.id;
update generations set status = 'failed', failure_code = 'interrupted', charged_credits = 0, ended_at = business_now()
  where status = 'streaming' and hold_id <> id;
select ledger_end_hold(id, 0, 'capture:' || id, business_now(), clock_timestamp()) from shared_holds;

alter table generations add column conversation_id uuid references conversations on delete set null;
update generations g set conversation_id = m.conversation_id from messages m where m.generation_id = g.id;
drop index generations_hold;
alter table generations drop column hold_id, drop column capture_id, drop column erased_at, drop column price_version, drop column cost_micro_dollars;
create index generations_conversation on generations (conversation_id) where conversation_id is not null;

alter table conversations drop column head_id;
drop index messages_children;
alter table messages
  drop constraint messages_parent, drop constraint messages_place, drop constraint messages_generation, drop constraint messages_content;
create index messages_conversation on messages (conversation_id, id);

-- One conversation is one row of turns: of a question asked again, each answer but the first gets the question once more, at the end.
update messages a set content = coalesce(
    (select string_agg(p.text, '' order by p.place) from generation_parts p where p.generation_id = a.generation_id), '')
  where a.role = 'assistant';
do $$
declare
  answer record;
begin
  for answer in
    select a.id, a.generation_id, a.conversation_id, a.created_at, q.id as question_id, q.content as prompt,
        row_number() over (partition by q.id order by a.id) as version
      from messages a join messages q on q.id = a.parent_id where a.role = 'assistant' order by a.id
  loop
    if answer.version > 1 then
      insert into messages (conversation_id, generation_id, role, content, created_at)
        values (answer.conversation_id, answer.generation_id, 'user', answer.prompt, answer.created_at);
      update messages set id = uuidv7() where id = answer.id;
    else
      update messages set generation_id = answer.generation_id where id = answer.question_id;
    end if;
  end loop;
end $$;
delete from messages where role = 'assistant' and content = '';
alter table messages drop column parent_id, alter column content set not null, alter column generation_id set not null;
alter table messages add unique (generation_id, role);
drop table generation_parts;

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

-- Ends an answer once: the hold, the assistant's message, the last of the log and the receipt. Its owner ends it, or,
-- with p_owner null, anybody once the lease is over by PostgreSQL's clock. Returns the row as it then is, ended now or before.
-- What is charged is what the hold gave: a hold released at its deadline charges nothing. p_kinds are the grants the person
-- may spend at this moment: the receipt says what is left of them.
create function answer_end(
  p_id uuid, p_owner uuid, p_status text, p_failure text, p_cut_short boolean, p_charge bigint, p_text text, p_prompt_tokens integer, p_completion_tokens integer,
  p_first_event integer, p_last_event integer, p_frames text, p_kinds text[], p_now timestamptz
) returns setof generations language plpgsql as $$
declare
  target generations;
  hold_end record;
begin
  -- Not `for update`: the log's rows refer to this one, and an insert into the log must not wait here while we wait for it.
  select * into target from generations g where g.id = p_id for no key update;
  if not found then return; end if;
  if target.status <> 'streaming' or (p_owner is null and target.lease_expires_at >= clock_timestamp()) or (p_owner is not null and target.lease_owner <> p_owner) then
    return next target;
    return;
  end if;
  select * into hold_end from ledger_end_hold(p_id, p_charge, 'capture:' || p_id, p_now, clock_timestamp());
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
      available_after = ledger_available(g.user_id, p_kinds, p_now), prompt_tokens = p_prompt_tokens,
      completion_tokens = p_completion_tokens, ended_at = p_now
    where g.id = p_id returning g.*;
end $$;

-- Whatever deletes a conversation, the person or the end of their account, deletes the log of its answers with it, and the
-- fingerprint of what was asked. An answer still under way is stopped by the one who writes it. SECURITY DEFINER, since the
-- application's role may not delete from the log itself.
create function conversation_erase_answers() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from generation_events e using generations g where g.conversation_id = old.id and e.generation_id = g.id;
  update generations g set conversation_id = null, request_hash = '',
      stop_requested_at = case when g.status = 'streaming' then coalesce(g.stop_requested_at, clock_timestamp()) else g.stop_requested_at end
    where g.conversation_id = old.id;
  return old;
end $$;
create trigger conversations_erase_answers before delete on conversations
  for each row execute function conversation_erase_answers();

-- The last words of an answer that ends after its conversation.
create function generation_erase_log() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from generation_events where generation_id = new.id;
  return null;
end $$;
create trigger generations_erase_log after update of status on generations for each row
  when (old.status = 'streaming' and new.status <> 'streaming' and new.conversation_id is null)
  execute function generation_erase_log();
