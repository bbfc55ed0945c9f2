drop table hold_parts, holds, ledger_entries, ledger_transactions, grants, wallets;
drop function ledger_assert_balanced, ledger_assert_entries, ledger_assert_wallet, ledger_refuse_change;
