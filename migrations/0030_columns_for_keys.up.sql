-- What is asked for is a column; the key of a posting only says that it is posted once.

-- What a grant was given for: the invoice's line or the pack, and the charge that paid for it.
alter table grants
  add column invoice_id text,
  add column invoice_line_id text,
  add column charge_id text,
  add column pack_key text;
update grants set invoice_id = split_part(source_key, ':', 2), invoice_line_id = split_part(source_key, ':', 3)
  where source_key ~ '^(grant|month):[^:]+:[^:]+(:|$)';
create index grants_invoice on grants (invoice_id) where invoice_id is not null;
create index grants_charge on grants (charge_id) where charge_id is not null;

alter table scheduled_grants
  add column invoice_id text,
  add column invoice_line_id text,
  add column charge_id text;
update scheduled_grants set invoice_id = split_part(key, ':', 2), invoice_line_id = split_part(key, ':', 3)
  where key ~ '^month:[^:]+:[^:]+:';
create index scheduled_grants_invoice on scheduled_grants (invoice_id) where posted_at is null and cancelled_at is null;
create index paid_invoices_subscription on paid_invoices (stripe_subscription_id);

-- Posts a grant, and writes down what it is for. Returns its id and whether it is new.
drop function ledger_post_grant;
create function ledger_post_grant(
  p_wallet uuid, p_kind text, p_credits bigint, p_expires_at timestamptz, p_key text, p_now timestamptz,
  p_invoice text default null, p_invoice_line text default null, p_charge text default null, p_pack text default null
) returns table (grant_id uuid, posted boolean, balance bigint, held bigint) language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  v_transaction uuid := uuidv7();
  v_grant uuid := uuidv7();
begin
  perform ledger_assert_amount(p_credits);
  perform from wallets where id = p_wallet for update;
  if not found then raise exception 'no wallet %', p_wallet using errcode = 'TS404'; end if;
  if not ledger_open_transaction(v_transaction, p_key, 'grant', p_wallet,
    jsonb_build_object('kind', p_kind, 'credits', p_credits, 'expiresAt', to_char(p_expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), p_now)
  then
    return query select g.id, false, w.balance, w.held from grants g join wallets w on w.id = g.wallet_id where g.source_key = p_key;
    return;
  end if;
  insert into grants (id, wallet_id, kind, credits, remaining, expires_at, source_key, created_at, invoice_id, invoice_line_id, charge_id, pack_key)
    values (v_grant, p_wallet, p_kind, p_credits, p_credits, p_expires_at, p_key, p_now, p_invoice, p_invoice_line, p_charge, p_pack);
  insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
    (v_transaction, 1, 'wallet', p_wallet, v_grant, p_credits), (v_transaction, 2, 'issued', p_wallet, v_grant, -p_credits);
  update wallets w set balance = w.balance + p_credits where w.id = p_wallet;
  perform ledger_settle_debt(p_wallet, p_now);
  return query select v_grant, true, w.balance, w.held from wallets w where w.id = p_wallet;
end $$;

-- Every line of a paid invoice, those that give no credits (prorations, lines for nothing of ours) included.
create table paid_invoice_lines (
  invoice_id text not null references paid_invoices,
  id text not null,
  stripe_price_id text,
  -- Of our catalogue; null: nothing of ours.
  plan_key text,
  billing_interval text check (billing_interval in ('month', 'year')),
  proration boolean not null,
  amount_cents bigint not null,
  period_start timestamptz not null,
  period_end timestamptz not null,
  primary key (invoice_id, id)
);

-- What the plan costs for its interval, and the plan that comes after the period, with the day from which it holds.
alter table user_subscriptions
  add column price_cents bigint check (price_cents >= 0),
  add column pending_plan_key text,
  add column pending_interval text check (pending_interval in ('month', 'year')),
  add column pending_from timestamptz,
  add constraint user_subscriptions_pending
    check (num_nulls(pending_plan_key, pending_interval, pending_from) in (0, 3));

-- Every change of a subscription, written with its row: from `valid_from` on, until the next row of the same subscription, the person had
-- this plan at this price in this state. Revenue is read from here, so nothing is ever changed.
create table subscription_changes (
  id uuid primary key default uuidv7(),
  -- Kept, unlinked from the person, when the account is deleted.
  user_id uuid references users on delete set null,
  stripe_subscription_id text not null,
  plan_key text not null,
  billing_interval text not null check (billing_interval in ('month', 'year')),
  -- Null: the row was written before prices were.
  price_cents bigint check (price_cents >= 0),
  status text not null check (status in ('incomplete', 'active', 'past_due', 'canceled')),
  cancel_at_period_end boolean not null,
  pending_plan_key text,
  pending_interval text,
  pending_from timestamptz,
  current_period_start timestamptz not null,
  current_period_end timestamptz not null,
  valid_from timestamptz not null,
  recorded_at timestamptz not null
);
create index subscription_changes_subscription on subscription_changes (stripe_subscription_id, id);
create index subscription_changes_user on subscription_changes (user_id) where user_id is not null;
create index subscription_changes_time on subscription_changes (valid_from);

-- Append-only for everybody, the owner included; but a deleted person is unlinked.
create function subscription_changes_refuse() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'UPDATE' and new.user_id is null and to_jsonb(new) - 'user_id' = to_jsonb(old) - 'user_id' then return new; end if;
  raise exception 'the changes of subscriptions are append-only' using errcode = 'TS901';
end $$;
create trigger subscription_changes_append_only before update or delete on subscription_changes
  for each row execute function subscription_changes_refuse();
create trigger subscription_changes_no_truncate before truncate on subscription_changes
  for each statement execute function subscription_changes_refuse();

-- The history begins with what is known today.
insert into subscription_changes (user_id, stripe_subscription_id, plan_key, billing_interval, status, cancel_at_period_end,
    current_period_start, current_period_end, valid_from, recorded_at)
  select user_id, stripe_subscription_id, plan_key, billing_interval, status, cancel_at_period_end,
    current_period_start, current_period_end, coalesce(ended_at, started_at), updated_at from user_subscriptions;
