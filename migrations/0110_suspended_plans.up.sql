-- A plan that is there at Stripe and gives no access: Stripe gave up charging it, somebody paused it, or it has a status that we don't know.
alter table user_subscriptions drop constraint user_subscriptions_status_check,
  add constraint user_subscriptions_status_check check (status in ('incomplete', 'active', 'past_due', 'suspended', 'canceled'));
alter table subscription_changes drop constraint subscription_changes_status_check,
  add constraint subscription_changes_status_check check (status in ('incomplete', 'active', 'past_due', 'suspended', 'canceled'));

-- A plan on hold because it is unpaid ends with its days of grace, too.
drop index user_subscriptions_grace;
create index user_subscriptions_grace on user_subscriptions (grace_until) where grace_until is not null;
