-- Who asks is a person, who pays is a billing account: it has the wallet and Stripe's customer, and its subscription serves its members.
create table billing_accounts (
  id uuid primary key default uuidv7(),
  stripe_customer_id text unique,
  created_at timestamptz not null
);

-- A person belongs to one account.
create table billing_account_members (
  user_id uuid primary key references users on delete cascade,
  billing_account_id uuid not null,
  role text not null check (role in ('owner')),
  created_at timestamptz not null
);

-- Everybody gets an account of their own; what deleted people left behind gets one without members.
insert into billing_account_members (user_id, billing_account_id, role, created_at) select id, uuidv7(), 'owner', created_at from users;
insert into billing_accounts (id, stripe_customer_id, created_at)
  select m.billing_account_id, u.stripe_customer_id, u.created_at from billing_account_members m join users u on u.id = m.user_id;
alter table billing_account_members
  add constraint billing_account_members_billing_account_id_fkey foreign key (billing_account_id) references billing_accounts;
create index billing_account_members_account on billing_account_members (billing_account_id, created_at, user_id);
alter table users drop column stripe_customer_id;

-- The account that pays for what a person asks. Whatever finds a wallet, a customer or a subscription of a person asks this.
create function payer_of(p_user uuid) returns uuid language sql stable as $$
  select billing_account_id from billing_account_members where user_id = p_user
$$;

-- SECURITY DEFINER, since the application's role may not make anybody a member of an account itself.
create function user_open_billing_account() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_account uuid;
begin
  insert into billing_accounts (created_at) values (new.created_at) returning id into v_account;
  insert into billing_account_members (user_id, billing_account_id, role, created_at) values (new.id, v_account, 'owner', new.created_at);
  return null;
end $$;
create trigger users_open_billing_account after insert on users for each row execute function user_open_billing_account();

-- The books of an account stay when its last member is deleted, but nothing of it leads to a person any more and nothing more is granted.
create function billing_account_close() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- The two last members may be deleted at the same moment: the second waits here and sees that the first is gone.
  perform from billing_accounts where id = old.billing_account_id for no key update;
  if exists (select from billing_account_members where billing_account_id = old.billing_account_id) then return null; end if;
  update billing_accounts set stripe_customer_id = null where id = old.billing_account_id;
  update scheduled_grants set cancelled_at = business_now()
    where billing_account_id = old.billing_account_id and posted_at is null and cancelled_at is null;
  return null;
end $$;
create trigger billing_account_members_close after delete on billing_account_members
  for each row execute function billing_account_close();

-- A table with pending checks can't be altered, so they are made at once.
set constraints all immediate;

alter table wallets drop constraint wallets_user_id_fkey;
alter table wallets rename column user_id to billing_account_id;
alter table wallets rename constraint wallets_user_id_key to wallets_billing_account_id_key;
update wallets set billing_account_id = coalesce(payer_of(billing_account_id), uuidv7());
insert into billing_accounts (id, created_at)
  select w.billing_account_id, w.created_at from wallets w where not exists (select from billing_accounts a where a.id = w.billing_account_id);
alter table wallets
  alter column billing_account_id set not null,
  add constraint wallets_billing_account_id_fkey foreign key (billing_account_id) references billing_accounts;

alter table scheduled_grants drop constraint scheduled_grants_user_id_fkey;
alter table scheduled_grants rename column user_id to billing_account_id;
update scheduled_grants set billing_account_id = payer_of(billing_account_id);
alter table scheduled_grants
  add constraint scheduled_grants_billing_account_id_fkey foreign key (billing_account_id) references billing_accounts;
create index scheduled_grants_account on scheduled_grants (billing_account_id, due_at) where posted_at is null and cancelled_at is null;

-- Null: recorded before there were accounts, for a person deleted since, and no grant tells whose wallet it was for.
alter table paid_invoices drop constraint paid_invoices_user_id_fkey;
alter table paid_invoices rename column user_id to billing_account_id;
alter index paid_invoices_user rename to paid_invoices_account;
update paid_invoices p set billing_account_id = coalesce(payer_of(p.billing_account_id),
  (select w.billing_account_id from grants g join wallets w on w.id = g.wallet_id where g.invoice_id = p.id limit 1));
alter table paid_invoices
  add constraint paid_invoices_billing_account_id_fkey foreign key (billing_account_id) references billing_accounts;

-- The subscription is the account's: its history has one row for each change, however many people it serves.
alter table subscription_changes disable trigger subscription_changes_append_only;
alter table subscription_changes drop constraint subscription_changes_user_id_fkey;
alter table subscription_changes rename column user_id to billing_account_id;
alter index subscription_changes_user rename to subscription_changes_account;
update subscription_changes c set billing_account_id = coalesce(payer_of(c.billing_account_id),
  (select p.billing_account_id from paid_invoices p
    where p.stripe_subscription_id = c.stripe_subscription_id and p.billing_account_id is not null limit 1));
alter table subscription_changes
  add constraint subscription_changes_billing_account_id_fkey foreign key (billing_account_id) references billing_accounts;
alter table subscription_changes enable trigger subscription_changes_append_only;
-- No deleted person has to be unlinked any more, so there is no exception left.
create or replace function subscription_changes_refuse() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  raise exception 'the changes of subscriptions are append-only' using errcode = 'TS901';
end $$;

alter table user_subscriptions drop constraint user_subscriptions_stripe_subscription_id_key;
create index user_subscriptions_subscription on user_subscriptions (stripe_subscription_id);

-- A row names who asked and who pays; the payer stays when the person is deleted.
alter table generations add column payer_id uuid references billing_accounts;
update generations g set payer_id = w.billing_account_id from holds h join wallets w on w.id = h.wallet_id where h.id = g.hold_id;
alter table generations alter column payer_id set not null;
create index generations_of_payer on generations (payer_id, asked_at desc);
create index generations_running_of_payer on generations (payer_id) where status = 'streaming';

-- What a person can spend now: free credits of open grants of the kinds named, never more than the wallet has in all,
-- nothing while it is frozen. Wallet, subscription check, refusals and receipts all say this figure.
create or replace function ledger_available(p_user uuid, p_kinds text[], p_now timestamptz) returns bigint language sql stable as $$
  select coalesce((select greatest(least(w.balance - w.held, coalesce(sum(g.remaining - g.held), 0)), 0)::bigint
    from wallets w left join grants g on g.wallet_id = w.id and (g.remaining <> 0 or g.held <> 0) and g.remaining > g.held
      and g.kind = any (p_kinds) and g.expired_at is null and g.expires_at > p_now
    where w.billing_account_id = payer_of(p_user) and w.frozen_at is null group by w.id), 0)
$$;

-- Starts an answer: limits, hold and the row. The payer's wallet is locked first, so that the limits and keys of its people are judged
-- one send at a time. `outcome` says what became of it, with the figures that a refusal needs. p_refused: the caller has found a reason to
-- refuse it, which counts unless the key is known. p_hold: a hold that serves several answers; null: one of its own.
-- A send over the rate is not written down: who goes on asking waits no longer for it.
-- The limits are each person's. The paying account has those of all its members together, whoever used them: a person who takes
-- another's place in it gets no second helping.
-- p_now is business time. Rate, lease and hold go by PostgreSQL's own time, so that a process whose clock is wrong ends
-- nobody's answer and refuses or grants nobody a question.
create or replace function answer_start(
  p_id uuid, p_user uuid, p_model text, p_key text, p_hash bytea, p_credits bigint, p_price_version text, p_kinds text[], p_refused boolean,
  p_hold uuid, p_trimmed integer, p_per_minute integer, p_at_once integer, p_owner uuid, p_lease_ms integer, p_hold_ms integer, p_now timestamptz
) returns table (outcome text, generation_id uuid, retry_after_ms bigint, available bigint) language plpgsql as $$
declare
  v_payer uuid := payer_of(p_user);
  v_members integer;
  wallet record;
  known record;
  v_clock timestamptz;
  v_oldest timestamptz;
begin
  -- The first word need not wait for the disk: a crash of PostgreSQL within the next flush of the log (a quarter of a
  -- second) forgets the question together with its hold, and nothing was charged. Every end waits, and this with it.
  perform set_config('synchronous_commit', 'off', true);
  select w.id, w.frozen_at into wallet from wallets w where w.billing_account_id = v_payer for update;
  -- Only now: the wallet may have been waited for.
  v_clock := clock_timestamp();
  select g.id, g.request_hash into known from generations g where g.user_id = p_user and g.idempotency_key = p_key;
  if found then
    outcome := case when known.request_hash = p_hash then 'known' else 'conflict' end;
    generation_id := known.id;
    return next;
    return;
  end if;
  v_members := greatest((select count(*) from billing_account_members m where m.billing_account_id = v_payer), 1);
  select max(full_since.at) into v_oldest from (
      (select sent.at from (
          (select g.asked_at as at from generations g where g.user_id = p_user and g.asked_at > v_clock - interval '1 minute'
            order by g.asked_at desc limit p_per_minute)
          union all select unnest(r.refused_at) from refused_sends r where r.user_id = p_user
        ) sent order by sent.at desc offset p_per_minute - 1 limit 1)
      union all
      (select sent.at from (
          (select g.asked_at as at from generations g where g.payer_id = v_payer and g.asked_at > v_clock - interval '1 minute'
            order by g.asked_at desc limit p_per_minute * v_members)
          union all select unnest(r.refused_at) from refused_sends r join billing_account_members m on m.user_id = r.user_id
            where m.billing_account_id = v_payer
        ) sent order by sent.at desc offset p_per_minute * v_members - 1 limit 1)
    ) full_since;
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
    when (select count(*) from generations g where g.payer_id = v_payer and g.status = 'streaming' and g.lease_expires_at > v_clock)
      >= p_at_once * v_members then 'too_many_answers'
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
  insert into generations (id, user_id, payer_id, model_id, idempotency_key, request_hash, hold_id, quoted_credits, price_version, trimmed_messages,
      lease_owner, lease_expires_at, created_at, asked_at)
    values (p_id, p_user, v_payer, p_model, p_key, p_hash, coalesce(p_hold, p_id), p_credits, p_price_version, p_trimmed,
      p_owner, v_clock + p_lease_ms * interval '1 millisecond', p_now, v_clock);
  generation_id := p_id;
  return next;
end $$;

-- Starts an answer as a turn of a conversation: the conversation where it is new, the question where the answer is not one more to a
-- question that is there, and the message that leads to the answer. p_turn is null for an answer without a conversation.
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
    perform from wallets w where w.billing_account_id = payer_of(p_user) for update;
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

set constraints all deferred;
