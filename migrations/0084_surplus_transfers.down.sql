-- The release before lists what is still to be transferred back under this kind, and treats it alike.
update money_backs set kind = 'withdrawal' where kind = 'surplus';
alter table money_backs drop constraint money_backs_kind_check, add constraint money_backs_kind_check check (kind in ('guarantee', 'withdrawal'));
