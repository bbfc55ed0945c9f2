-- What the hourly run looks for is an index of its own: read from everybody's rows, it took longer with every customer (decision 58).
create index user_subscriptions_periods on user_subscriptions (current_period_end) where status <> 'canceled';
create index grants_running_trials on grants (id) where kind = 'trial' and expired_at is null;
