drop index grants_running_trials;
drop index user_subscriptions_periods;
