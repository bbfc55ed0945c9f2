-- The ledger's checks run at commit as whoever queued them: after a call of a SECURITY DEFINER function that is the
-- owner. With the caller's search path, a temporary view named like a table, or an operator in a schema the application's
-- role may create in, would run the caller's code with the owner's rights. So the path is fixed for them too.
alter function ledger_assert_balanced() set search_path = public, pg_temp;
alter function ledger_assert_entries() set search_path = public, pg_temp;
alter function ledger_assert_wallet() set search_path = public, pg_temp;
alter function ledger_refuse_change() set search_path = public, pg_temp;
