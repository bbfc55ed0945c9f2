-- As in 0038, and reads each row once: the entries of a wallet by its grants, which are few, and not again for the wallet and for each
-- transaction. An index of ten million entries has more levels than one of ten thousand, and each look-up goes through them all
-- (decision 58). What is recorded is one row and what it is rebuilt from are others, summed up together: nothing depends on how many
-- rows PostgreSQL expects. `offset 0` keeps the look-ups by index for the same reason.
create or replace function ledger_disagreements_in(p_wallets uuid[]) returns table (kind text, id uuid, recorded bigint, rebuilt bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  with w as materialized (select w.id, w.balance, w.held from wallets w where w.id = any (p_wallets)),
    g as materialized (select g.id, g.wallet_id, g.remaining from grants g where g.wallet_id = any (p_wallets)),
    e as materialized (
      select g.id as grant_id, g.wallet_id, e.transaction_id, e.account, e.amount
        from g, lateral (select transaction_id, account, amount from ledger_entries where grant_id = g.id offset 0) e),
    h as materialized (
      select h.* from w, lateral (select id, wallet_id, amount, settled from holds where wallet_id = w.id and state = 'open' offset 0) h),
    p as materialized (
      select p.* from h, lateral (select hold_id, amount, settled from hold_parts where hold_id = h.id offset 0) p),
    -- What is recorded (n: 0) must be the sum of the others (n: 1).
    figures (kind, id, n, recorded, rebuilt) as (
      select 'grant', g.id, 0, g.remaining, 0 from g
      union all select 'grant', e.grant_id, 1, 0, e.amount from e where e.account = 'wallet'
      union all select 'wallet', w.id, 0, w.balance, 0 from w
      union all select 'wallet', e.wallet_id, 1, 0, e.amount from e where e.account = 'wallet'
      union all select 'held', w.id, 0, w.held, 0 from w
      union all select 'held', h.wallet_id, 1, 0, h.amount - h.settled from h
      union all select 'part', h.id, 0, h.amount, 0 from h
      union all select 'part', p.hold_id, 1, 0, p.amount from p
      union all select 'settled', h.id, 0, h.settled, 0 from h
      union all select 'settled', p.hold_id, 1, 0, p.settled from p
      -- A transaction has entries, all in grants of its wallet, and they sum to zero.
      union all select 'transaction', t.id, 0, 0, 0
        from w, lateral (select id from ledger_transactions where wallet_id = w.id offset 0) t
      union all select 'transaction', e.transaction_id, 1, 0, e.amount from e)
  select f.kind, f.id, sum(f.recorded)::bigint, sum(f.rebuilt)::bigint from figures f group by f.kind, f.id
    having sum(f.recorded) <> sum(f.rebuilt) or (f.kind = 'transaction' and sum(f.n) = 0)
$$;
