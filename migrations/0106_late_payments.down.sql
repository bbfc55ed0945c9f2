-- The money went back or is on its way, so the rows stay: otherwise a payment could be returned twice.
update money_backs set kind = 'withdrawal' where kind = 'late';
alter table money_backs
  drop constraint money_backs_kind_check,
  add constraint money_backs_kind_check check (kind in ('guarantee', 'withdrawal', 'surplus'));
