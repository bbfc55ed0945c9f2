drop index charge_returns_account;
