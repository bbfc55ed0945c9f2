drop function ledger_disagreements_in;
drop table ledger_checks;
