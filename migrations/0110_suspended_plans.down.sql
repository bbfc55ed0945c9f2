-- For the earlier release such a plan has ended.
update user_subscriptions set status = 'canceled', ended_at = coalesce(ended_at, updated_at), grace_until = null where status = 'suspended';
alter table subscription_changes disable trigger subscription_changes_append_only;
update subscription_changes set status = 'canceled' where status = 'suspended';
alter table subscription_changes enable trigger subscription_changes_append_only;

alter table user_subscriptions drop constraint user_subscriptions_status_check,
  add constraint user_subscriptions_status_check check (status in ('incomplete', 'active', 'past_due', 'canceled'));
alter table subscription_changes drop constraint subscription_changes_status_check,
  add constraint subscription_changes_status_check check (status in ('incomplete', 'active', 'past_due', 'canceled'));

drop index user_subscriptions_grace;
create index user_subscriptions_grace on user_subscriptions (grace_until) where status = 'past_due';
