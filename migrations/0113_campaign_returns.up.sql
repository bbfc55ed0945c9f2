-- What a campaign brought is counted order by order, and of few orders anything went back: this finds those few.
create index charge_returns_account on charge_returns (billing_account_id);
