drop function ledger_disagreements, ledger_claw_back, ledger_expire_grant, ledger_end_hold, ledger_expire_free, ledger_hold,
  ledger_post_grant, ledger_settle_debt, ledger_open_transaction, ledger_assert_amount;
