drop function retention_payment_checks;
drop table payment_checks;
