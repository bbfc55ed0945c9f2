-- Each account's first member has it again. Others that it served keep neither wallet nor subscription.
drop trigger users_open_billing_account on users;
drop trigger billing_account_members_close on billing_account_members;
drop function user_open_billing_account, billing_account_close;

create function first_member(p_account uuid) returns uuid language sql stable as $$
  select user_id from billing_account_members where billing_account_id = p_account order by created_at, user_id limit 1
$$;

set constraints all immediate;

alter table users add column stripe_customer_id text unique;
update users u set stripe_customer_id = a.stripe_customer_id from billing_accounts a where u.id = first_member(a.id);

alter table wallets
  drop constraint wallets_billing_account_id_fkey,
  alter column billing_account_id drop not null;
update wallets set billing_account_id = first_member(billing_account_id);
alter table wallets rename column billing_account_id to user_id;
alter table wallets rename constraint wallets_billing_account_id_key to wallets_user_id_key;
alter table wallets add constraint wallets_user_id_fkey foreign key (user_id) references users on delete set null;

drop index scheduled_grants_account;
alter table scheduled_grants drop constraint scheduled_grants_billing_account_id_fkey;
delete from scheduled_grants where first_member(billing_account_id) is null;
update scheduled_grants set billing_account_id = first_member(billing_account_id);
alter table scheduled_grants rename column billing_account_id to user_id;
alter table scheduled_grants add constraint scheduled_grants_user_id_fkey foreign key (user_id) references users on delete cascade;

alter table paid_invoices drop constraint paid_invoices_billing_account_id_fkey;
update paid_invoices set billing_account_id = first_member(billing_account_id);
alter table paid_invoices rename column billing_account_id to user_id;
alter index paid_invoices_account rename to paid_invoices_user;
alter table paid_invoices add constraint paid_invoices_user_id_fkey foreign key (user_id) references users on delete set null;

alter table subscription_changes disable trigger subscription_changes_append_only;
alter table subscription_changes drop constraint subscription_changes_billing_account_id_fkey;
update subscription_changes set billing_account_id = first_member(billing_account_id);
alter table subscription_changes rename column billing_account_id to user_id;
alter index subscription_changes_account rename to subscription_changes_user;
alter table subscription_changes
  add constraint subscription_changes_user_id_fkey foreign key (user_id) references users on delete set null;
alter table subscription_changes enable trigger subscription_changes_append_only;
create or replace function subscription_changes_refuse() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'UPDATE' and new.user_id is null and to_jsonb(new) - 'user_id' = to_jsonb(old) - 'user_id' then return new; end if;
  raise exception 'the changes of subscriptions are append-only' using errcode = 'TS901';
end $$;

delete from user_subscriptions s where s.user_id <> first_member(payer_of(s.user_id));
drop index user_subscriptions_subscription;
alter table user_subscriptions add constraint user_subscriptions_stripe_subscription_id_key unique (stripe_subscription_id);

create or replace function ledger_available(p_user uuid, p_kinds text[], p_now timestamptz) returns bigint language sql stable as $$
  select coalesce((select greatest(least(w.balance - w.held, coalesce(sum(g.remaining - g.held), 0)), 0)::bigint
    from wallets w left join grants g on g.wallet_id = w.id and (g.remaining <> 0 or g.held <> 0) and g.remaining > g.held
      and g.kind = any (p_kinds) and g.expired_at is null and g.expires_at > p_now
    where w.user_id = p_user and w.frozen_at is null group by w.id), 0)
$$;

create or replace function answer_start(
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

create or replace function turn_start(
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

alter table generations drop column payer_id;
drop function first_member, payer_of;
drop table billing_account_members, billing_accounts;
set constraints all deferred;
