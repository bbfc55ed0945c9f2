-- A person can also withdraw from a contract, as the European law gives it to consumers (decision 53). Both are a row of money_backs: the
-- guarantee once for each account, and no payment twice.
alter table money_backs
  add column kind text not null default 'guarantee' check (kind in ('guarantee', 'withdrawal')),
  drop constraint money_backs_billing_account_id_key;
create unique index money_backs_guarantee on money_backs (billing_account_id) where kind = 'guarantee';
create unique index money_backs_charge on money_backs (charge_id);
create index money_backs_account on money_backs (billing_account_id);
