drop function credit_alert_dismiss, credit_alert_set;
drop trigger grants_alert_passed on grants;
drop trigger grants_alert_taken on grants;
drop function grants_tell_alert, grants_take_alert;
-- The release before has no such job.
delete from outbox where job = 'tell-low-credits';
set constraints all immediate;
alter table grants drop column alert_dismissed, drop column alert_told, drop column alert_percent;
alter table wallets drop column alert_percent;
