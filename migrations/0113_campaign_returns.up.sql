-- What a campaign brought is counted order by order. Of few orders anything went back: this index finds those.
create index charge_returns_account on charge_returns (billing_account_id);
