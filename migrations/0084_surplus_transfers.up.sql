-- A bank transfer was recorded for an invoice that was void, or paid by card, by the time Stripe was told: all of it is transferred back.
alter table money_backs drop constraint money_backs_kind_check,
  add constraint money_backs_kind_check check (kind in ('guarantee', 'withdrawal', 'surplus'));
