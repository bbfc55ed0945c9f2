drop function ledger_restore;
drop index scheduled_grants_charge;
drop table charge_returns;
