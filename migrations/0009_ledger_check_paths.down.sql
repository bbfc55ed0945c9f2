alter function ledger_assert_balanced() reset search_path;
alter function ledger_assert_entries() reset search_path;
alter function ledger_assert_wallet() reset search_path;
alter function ledger_refuse_change() reset search_path;
