-- For some wallets, by indexes. Of holds it reads the open ones, for the parts of a hold that has ended never change.
create or replace function ledger_disagreements_in(p_wallets uuid[]) returns table (kind text, id uuid, recorded bigint, rebuilt bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select 'grant', g.id, g.remaining, coalesce(e.sum, 0)::bigint
    from grants g, lateral (select sum(amount) from ledger_entries where grant_id = g.id and account = 'wallet') e
    where g.wallet_id = any (p_wallets) and g.remaining <> coalesce(e.sum, 0)
  union all
  select 'wallet', w.id, w.balance, coalesce(e.sum, 0)::bigint
    from wallets w, lateral (
      select sum(e.amount) from grants g join ledger_entries e on e.grant_id = g.id and e.account = 'wallet' where g.wallet_id = w.id) e
    where w.id = any (p_wallets) and w.balance <> coalesce(e.sum, 0)
  union all
  select 'held', w.id, w.held, coalesce(h.sum, 0)::bigint
    from wallets w, lateral (select sum(amount - settled) from holds where wallet_id = w.id and state = 'open') h
    where w.id = any (p_wallets) and w.held <> coalesce(h.sum, 0)
  union all
  select 'part', h.id, h.amount, coalesce(p.sum, 0)::bigint
    from holds h, lateral (select sum(amount) from hold_parts where hold_id = h.id) p
    where h.wallet_id = any (p_wallets) and h.state = 'open' and h.amount <> coalesce(p.sum, 0)
  union all
  select 'settled', h.id, h.settled, coalesce(p.sum, 0)::bigint
    from holds h, lateral (select sum(settled) from hold_parts where hold_id = h.id) p
    where h.wallet_id = any (p_wallets) and h.state = 'open' and h.settled <> coalesce(p.sum, 0)
  union all
  select 'transaction', t.id, 0::bigint, coalesce(e.sum, 0)::bigint
    from ledger_transactions t, lateral (select sum(amount) from ledger_entries where transaction_id = t.id) e
    where t.wallet_id = any (p_wallets) and coalesce(e.sum, 1) <> 0
$$;
