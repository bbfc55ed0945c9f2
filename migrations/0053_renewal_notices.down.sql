drop index user_subscriptions_renewals;
alter table user_subscriptions drop column renewal_told_for;
