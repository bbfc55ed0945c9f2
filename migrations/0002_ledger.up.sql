-- The credit ledger: double entry, append-only, integer credits. Wallet → grants → entries; a hold reserves, a capture
-- or a release ends it, once. The application's role may read these tables and call the functions of 0003, no more.
create table wallets (
  id uuid primary key default uuidv7(),
  -- Kept, unlinked from the person, when the account is deleted.
  user_id uuid unique references users on delete set null,
  balance bigint not null default 0,
  held bigint not null default 0 check (held >= 0),
  frozen_at timestamptz,
  created_at timestamptz not null
);

create table grants (
  id uuid primary key default uuidv7(),
  wallet_id uuid not null references wallets,
  kind text not null check (kind in ('plan', 'trial', 'pack', 'adjustment')),
  credits bigint not null check (credits > 0 and credits <= 1000000000),
  remaining bigint not null check (remaining <= credits),
  held bigint not null default 0 check (held >= 0 and held <= credits),
  clawed_back bigint not null default 0 check (clawed_back >= 0 and clawed_back <= credits),
  expires_at timestamptz not null,
  expired_at timestamptz,
  source_key text not null unique,
  created_at timestamptz not null,
  -- Below zero only by what was clawed back: that is the wallet's recorded debt.
  check (remaining + clawed_back >= 0)
);
create index grants_open on grants (wallet_id, expires_at, id) where remaining <> 0 or held <> 0;
create index grants_due on grants (expires_at) where expired_at is null;

create table ledger_transactions (
  id uuid primary key default uuidv7(),
  -- One business fact, one posting.
  key text not null unique,
  kind text not null check (kind in ('grant', 'capture', 'expire', 'clawback', 'repay', 'restore')),
  wallet_id uuid not null references wallets,
  -- What the posting says, compared when the key comes again: same content, same answer; other content, refused.
  content jsonb not null,
  occurred_at timestamptz not null,
  recorded_at timestamptz not null default clock_timestamp()
);
create index ledger_transactions_wallet on ledger_transactions (wallet_id, id);

create table ledger_entries (
  transaction_id uuid not null references ledger_transactions,
  line smallint not null check (line > 0),
  -- 'wallet' moves a grant of the wallet; the others are the house's side of it.
  account text not null check (account in ('wallet', 'issued', 'spent', 'expired', 'clawed_back')),
  wallet_id uuid not null references wallets,
  grant_id uuid not null references grants,
  amount bigint not null check (amount <> 0),
  primary key (transaction_id, line)
);
create index ledger_entries_grant on ledger_entries (grant_id);
create index ledger_entries_wallet on ledger_entries (wallet_id) where account = 'wallet';

create table holds (
  id uuid primary key,
  wallet_id uuid not null references wallets,
  amount bigint not null check (amount > 0),
  state text not null default 'open' check (state in ('open', 'captured', 'released')),
  captured bigint not null default 0 check (captured >= 0 and captured <= amount),
  -- Wall time: past it the sweeper releases.
  deadline timestamptz not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  check ((state = 'open') = (ended_at is null)),
  check (state = 'captured' or captured = 0)
);
create index holds_open on holds (deadline) where state = 'open';
create index holds_wallet on holds (wallet_id) where state = 'open';

create table hold_parts (
  hold_id uuid not null references holds,
  grant_id uuid not null references grants,
  amount bigint not null check (amount > 0),
  primary key (hold_id, grant_id)
);

-- Invariant 1: every transaction's entries sum to zero, checked at commit.
create function ledger_assert_balanced() returns trigger language plpgsql as $$
declare
  total numeric;
begin
  select sum(amount) into total from ledger_entries where transaction_id = new.transaction_id;
  if total <> 0 then
    raise exception 'ledger transaction % does not sum to zero: %', new.transaction_id, total using errcode = 'TS900';
  end if;
  return null;
end $$;
create constraint trigger ledger_entries_balanced after insert on ledger_entries
  deferrable initially deferred for each row execute function ledger_assert_balanced();

-- A transaction without entries says nothing.
create function ledger_assert_entries() returns trigger language plpgsql as $$
begin
  if not exists (select from ledger_entries where transaction_id = new.id) then
    raise exception 'ledger transaction % has no entries', new.id using errcode = 'TS900';
  end if;
  return null;
end $$;
create constraint trigger ledger_transactions_have_entries after insert on ledger_transactions
  deferrable initially deferred for each row execute function ledger_assert_entries();

-- Invariants 2 and 3: the wallet equals the sum of its grants, and only clawed-back credits may leave it in debt.
create function ledger_assert_wallet() returns trigger language plpgsql as $$
declare
  wallet wallets;
  grants_remaining numeric;
  grants_held numeric;
  debt numeric;
begin
  select * into wallet from wallets where id = new.id;
  select coalesce(sum(remaining), 0), coalesce(sum(held), 0), coalesce(sum(greatest(held - remaining, 0)), 0)
    into grants_remaining, grants_held, debt
    from grants where wallet_id = new.id and (remaining <> 0 or held <> 0);
  if wallet.balance <> grants_remaining or wallet.held <> grants_held then
    raise exception 'wallet % says balance % held %, its grants say % and %',
      new.id, wallet.balance, wallet.held, grants_remaining, grants_held using errcode = 'TS900';
  end if;
  if wallet.balance - wallet.held < -debt then
    raise exception 'wallet % is overdrawn', new.id using errcode = 'TS900';
  end if;
  return null;
end $$;
create constraint trigger wallets_agree after update on wallets
  deferrable initially deferred for each row execute function ledger_assert_wallet();

-- Append-only for everybody, the owner included.
create function ledger_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the ledger is append-only' using errcode = 'TS901';
end $$;
create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries
  for each statement execute function ledger_refuse_change();
create trigger ledger_transactions_append_only before update or delete or truncate on ledger_transactions
  for each statement execute function ledger_refuse_change();
