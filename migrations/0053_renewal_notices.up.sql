-- The end of the period of whose renewal the person was told ahead; null: of none yet.
alter table user_subscriptions add column renewal_told_for timestamptz;
create index user_subscriptions_renewals on user_subscriptions (current_period_end)
  where billing_interval = 'year' and status = 'active' and not cancel_at_period_end and renewal_told_for is distinct from current_period_end;
