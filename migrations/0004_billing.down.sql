drop table discount_campaigns, checkouts, scheduled_grants, paid_invoices, user_subscriptions, stripe_events;
