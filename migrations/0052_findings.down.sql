drop function retention_findings;
drop table full_checks;
drop table findings;
