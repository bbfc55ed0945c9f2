-- A bank's debit may succeed after the plan that it pays for has ended. Its money goes back by itself (decision 110).
alter table money_backs
  drop constraint money_backs_kind_check,
  add constraint money_backs_kind_check check (kind in ('guarantee', 'withdrawal', 'surplus', 'late'));
