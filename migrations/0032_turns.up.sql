-- An answer (a row of generations) knows who asked and pays, its model, hold, price, cost and output, and nothing of a conversation: a
-- message of a conversation leads to it, and an answer may be there without one. What it says is a list of parts.
-- A message knows the one before it, so that a conversation has branches: an edited question stands beside the first one, under the
-- same message, and so does an answer asked again. `head_id` is the end of the branch that is shown.

create table generation_parts (
  generation_id uuid not null references generations on delete cascade,
  place smallint not null check (place > 0),
  kind text not null check (kind in ('text', 'picture', 'sound', 'clip', 'sources', 'file')),
  -- What a part of kind 'text' says.
  text text,
  -- What the others are: which file, which sources.
  detail jsonb,
  primary key (generation_id, place),
  constraint generation_parts_content check ((kind = 'text') = (text is not null) and (kind = 'text') = (detail is null))
);

drop trigger generations_erase_log on generations;
drop trigger conversations_erase_answers on conversations;
drop function generation_erase_log, conversation_erase_answers, answer_start, answer_end;

-- Every answer has its message from its start on; until now one that had said nothing had none. A message's id tells its time, by which
-- messages are listed: this one gets its question's id, a millisecond later.
insert into messages (id, conversation_id, generation_id, role, content, created_at)
  select (lpad(to_hex(('x' || left(replace(q.id::text, '-', ''), 12))::bit(48)::bigint + 1), 12, '0') || substr(replace(q.id::text, '-', ''), 13))::uuid,
      q.conversation_id, q.generation_id, 'assistant', '', q.created_at from messages q
    where q.role = 'user' and not exists (select from messages a where a.generation_id = q.generation_id and a.role = 'assistant');
alter table messages add column parent_id uuid;
update messages a set parent_id = q.id from messages q where a.role = 'assistant' and q.role = 'user' and q.generation_id = a.generation_id;
update messages q set parent_id = turns.before from (
    select q.id, lag(a.id) over (partition by q.conversation_id order by q.id) as before
      from messages q join messages a on a.generation_id = q.generation_id and a.role = 'assistant' where q.role = 'user'
  ) turns where turns.id = q.id;
insert into generation_parts (generation_id, place, kind, text)
  select generation_id, 1, 'text', content from messages where role = 'assistant' and content <> '';
drop index messages_conversation;
alter table messages
  drop constraint messages_generation_id_role_key,
  alter column content drop not null,
  alter column generation_id drop not null;
update messages set content = null where role = 'assistant';
update messages set generation_id = null where role = 'user';
alter table messages
  add constraint messages_content check ((role = 'user') = (content is not null) and (role = 'assistant') = (generation_id is not null)),
  add constraint messages_generation unique (generation_id),
  add constraint messages_place unique (conversation_id, id),
  add constraint messages_parent foreign key (conversation_id, parent_id) references messages (conversation_id, id);
create index messages_children on messages (conversation_id, parent_id);

alter table conversations add column head_id uuid;
update conversations c set head_id = (
  select a.id from messages q join messages a on a.parent_id = q.id where q.conversation_id = c.id and q.role = 'user' order by q.id desc limit 1);
alter table conversations add constraint conversations_head foreign key (id, head_id) references messages (conversation_id, id);

alter table generations
  add column hold_id uuid references holds,
  -- Since when nobody can read what was asked and said.
  add column erased_at timestamptz,
  -- The posting that charged it.
  add column capture_id uuid references ledger_transactions,
  -- By which prices it was sold, and what its provider takes for it; null: not known, or from before this.
  add column price_version text,
  add column cost_micro_dollars bigint check (cost_micro_dollars >= 0);
update generations set hold_id = id, erased_at = case when conversation_id is null then coalesce(ended_at, created_at) end;
update generations g set capture_id = t.id from ledger_transactions t where t.kind = 'capture' and t.key = 'capture:' || g.id;
create unique index generations_capture on generations (capture_id) where capture_id is not null;
alter table generations alter column hold_id set not null, drop column conversation_id;
create index generations_hold on generations (hold_id);

-- Starts an answer: limits, hold and the row. The wallet's row is locked first, so that a person's limits and keys are judged one send
-- at a time. `outcome` says what became of it, with the figures that a refusal needs. p_refused: the caller has found a reason to
-- refuse it, which counts unless the key is known. p_hold: a hold that serves several answers; null: one of its own.
-- A send over the rate is not written down: who goes on asking waits no longer for it.
-- p_now is business time. Rate, lease and hold go by PostgreSQL's own time, so that a process whose clock is wrong ends
-- nobody's answer and refuses or grants nobody a question.
create function answer_start(
  p_id uuid, p_user uuid, p_model text, p_key text, p_hash bytea, p_credits bigint, p_price_version text, p_kinds text[], p_refused boolean,
  p_hold uuid, p_trimmed integer, p_per_minute integer, p_at_once integer, p_owner uuid, p_lease_ms integer, p_hold_ms integer, p_now timestamptz
) returns table (outcome text, generation_id uuid, retry_after_ms bigint, available bigint) language plpgsql as $$
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
  select g.id, g.request_hash into known from generations g where g.user_id = p_user and g.idempotency_key = p_key;
  if found then
    outcome := case when known.request_hash = p_hash then 'known' else 'conflict' end;
    generation_id := known.id;
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
  available := case when p_hold is null then ledger_available(p_user, p_kinds, p_now)
    else coalesce((select h.amount - (select coalesce(sum(g.quoted_credits), 0) from generations g where g.hold_id = h.id)
      from holds h where h.id = p_hold and h.wallet_id = wallet.id and h.state = 'open'), 0) end;
  outcome := case
    when p_refused then 'refused'
    when wallet.id is null then 'no_wallet'
    when wallet.frozen_at is not null then 'wallet_frozen'
    when (select count(*) from generations g where g.user_id = p_user and g.status = 'streaming' and g.lease_expires_at > v_clock) >= p_at_once
      then 'too_many_answers'
    when available < p_credits then 'insufficient_credits'
    else 'created' end;
  if outcome <> 'created' then
    insert into refused_sends as before (user_id, refused_at) values (p_user, array[v_clock])
      on conflict (user_id) do update set refused_at = v_clock || array(
        select refused.at from unnest(before.refused_at) refused (at) where refused.at > v_clock - interval '1 minute' order by refused.at desc);
    return next;
    return;
  end if;
  if p_hold is null then
    perform ledger_hold(p_id, wallet.id, p_credits, p_kinds, p_now, v_clock + p_hold_ms * interval '1 millisecond', v_clock);
  end if;
  insert into generations (id, user_id, model_id, idempotency_key, request_hash, hold_id, quoted_credits, price_version, trimmed_messages,
      lease_owner, lease_expires_at, created_at, asked_at)
    values (p_id, p_user, p_model, p_key, p_hash, coalesce(p_hold, p_id), p_credits, p_price_version, p_trimmed,
      p_owner, v_clock + p_lease_ms * interval '1 millisecond', p_now, v_clock);
  generation_id := p_id;
  return next;
end $$;

-- Starts an answer as a turn of a conversation: the conversation where it is new, the question where the answer is not one more to a
-- question that is there, and the message that leads to the answer. p_turn is null for an answer without a conversation.
create function turn_start(
  p_turn jsonb,
  p_id uuid, p_user uuid, p_model text, p_key text, p_hash bytea, p_credits bigint, p_price_version text, p_kinds text[], p_refused boolean,
  p_hold uuid, p_trimmed integer, p_per_minute integer, p_at_once integer, p_owner uuid, p_lease_ms integer, p_hold_ms integer, p_now timestamptz
) returns table (outcome text, generation_id uuid, retry_after_ms bigint, available bigint) language plpgsql as $$
declare
  turn record;
  v_missing boolean := false;
begin
  select * into turn from jsonb_to_record(p_turn) as t (
    "conversationId" uuid, "isNew" boolean, title text, "parentId" uuid, "questionId" uuid, "answerId" uuid, prompt text);
  if p_turn is not null and not turn."isNew" then
    -- The wallet before the conversation, as everybody takes them.
    perform from wallets w where w.user_id = p_user for update;
    perform from conversations c where c.id = turn."conversationId" and c.user_id = p_user for no key update;
    v_missing := not found or case
      when turn.prompt is null then not exists (
        select from messages m where m.conversation_id = turn."conversationId" and m.id = turn."questionId" and m.role = 'user')
      else turn."parentId" is not null and not exists (
        select from messages m where m.conversation_id = turn."conversationId" and m.id = turn."parentId" and m.role = 'assistant') end;
  end if;
  select a.* into outcome, generation_id, retry_after_ms, available from answer_start(p_id, p_user, p_model, p_key, p_hash, p_credits,
    p_price_version, p_kinds, p_refused or v_missing, p_hold, p_trimmed, p_per_minute, p_at_once, p_owner, p_lease_ms, p_hold_ms, p_now) a;
  if outcome = 'refused' and not p_refused then outcome := 'no_conversation'; end if;
  if outcome = 'created' and p_turn is not null then
    if turn."isNew" then
      insert into conversations (id, user_id, title, created_at, updated_at)
        values (turn."conversationId", p_user, turn.title, p_now, p_now) on conflict (id) do nothing;
    end if;
    if turn.prompt is not null then
      insert into messages (id, conversation_id, parent_id, role, content, created_at)
        values (turn."questionId", turn."conversationId", turn."parentId", 'user', turn.prompt, p_now);
    end if;
    insert into messages (id, conversation_id, parent_id, role, generation_id, created_at)
      values (turn."answerId", turn."conversationId", turn."questionId", 'assistant', p_id, p_now);
    update conversations c set head_id = turn."answerId", updated_at = greatest(c.updated_at, p_now) where c.id = turn."conversationId";
  end if;
  return next;
end $$;

-- Ends an answer once: its share of the hold, its parts, the last of the log and the receipt. Its owner ends it, or,
-- with p_owner null, anybody once the lease is over by PostgreSQL's clock. Returns the row as it then is, ended now or before.
-- What is charged is what the hold gave: a hold released at its deadline charges nothing. The last answer of a hold releases what is
-- left of it. p_kinds are the grants the person may spend at this moment: the receipt says what is left of them.
create function answer_end(
  p_id uuid, p_owner uuid, p_status text, p_failure text, p_cut_short boolean, p_charge bigint, p_parts jsonb, p_prompt_tokens integer, p_completion_tokens integer,
  p_cost bigint, p_first_event integer, p_last_event integer, p_frames text, p_kinds text[], p_now timestamptz
) returns setof generations language plpgsql as $$
declare
  target generations;
  share record;
begin
  -- Not `for update`: the log's rows refer to this one, and an insert into the log must not wait here while we wait for it.
  select * into target from generations g where g.id = p_id for no key update;
  if not found then return; end if;
  if target.status <> 'streaming' or (p_owner is null and target.lease_expires_at >= clock_timestamp()) or (p_owner is not null and target.lease_owner <> p_owner) then
    return next target;
    return;
  end if;
  select * into share from ledger_settle(target.hold_id, target.quoted_credits, p_charge, 'capture:' || p_id, p_now, clock_timestamp());
  if share.state = 'open' and not exists (select from generations g where g.hold_id = target.hold_id and g.id <> p_id and g.status = 'streaming') then
    perform ledger_end_hold(target.hold_id, 0, 'capture:' || target.hold_id, p_now, clock_timestamp());
  end if;
  if p_first_event is not null then
    insert into generation_events as known (generation_id, first_event, last_event, frames) values (p_id, p_first_event, p_last_event, p_frames)
      on conflict (generation_id, first_event) do update set last_event = excluded.last_event, frames = excluded.frames
      where known.last_event < excluded.last_event;
  end if;
  if target.erased_at is null then
    insert into generation_parts (generation_id, place, kind, text, detail)
      select p_id, part.place, part.value->>'kind', part.value->>'text', part.value->'detail'
        from jsonb_array_elements(p_parts) with ordinality as part (value, place);
  end if;
  return query update generations g set status = p_status, failure_code = p_failure, cut_short = p_cut_short, charged_credits = share.captured,
      available_after = ledger_available(g.user_id, p_kinds, p_now), prompt_tokens = p_prompt_tokens,
      completion_tokens = p_completion_tokens, cost_micro_dollars = p_cost, ended_at = p_now,
      capture_id = case when share.captured > 0 then (select t.id from ledger_transactions t where t.key = 'capture:' || p_id) end
    where g.id = p_id returning g.*;
end $$;

-- What is deleted is unreadable at once: log and parts go, and the fingerprint of what was asked. An answer still under way is stopped
-- by the one who writes it. SECURITY DEFINER, since the application's role may not delete from the log itself.
create function answers_erase(p_ids uuid[]) returns void language sql security definer set search_path = public, pg_temp as $$
  delete from generation_events where generation_id = any (p_ids);
  delete from generation_parts where generation_id = any (p_ids);
  update generations g set erased_at = clock_timestamp(), request_hash = '',
      stop_requested_at = case when g.status = 'streaming' then coalesce(g.stop_requested_at, clock_timestamp()) else g.stop_requested_at end
    where g.id = any (p_ids) and g.erased_at is null;
$$;

-- Whatever deletes a conversation, the person or the end of their account, deletes what its answers said.
create function conversation_erase_answers() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform answers_erase(array(select m.generation_id from messages m where m.conversation_id = old.id and m.generation_id is not null));
  return old;
end $$;
create trigger conversations_erase_answers before delete on conversations
  for each row execute function conversation_erase_answers();

-- An answer without a conversation is deleted with the account.
create function generation_erase() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform answers_erase(array[new.id]);
  return null;
end $$;
create trigger generations_erase after update of user_id on generations for each row
  when (old.user_id is not null and new.user_id is null and new.erased_at is null) execute function generation_erase();

-- The last words of an answer that ends after it was erased.
create function generation_erase_log() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from generation_events where generation_id = new.id;
  return null;
end $$;
create trigger generations_erase_log after update of status on generations for each row
  when (old.status = 'streaming' and new.status <> 'streaming' and new.erased_at is not null)
  execute function generation_erase_log();
