-- The release before would give these discounts to people who never paid, for every plan. Those that run end now, and those to come are dropped.
delete from discount_campaigns where (audience <> 'new' or plan_keys is not null) and starts_at >= business_now();
update discount_campaigns set ends_at = business_now() where (audience <> 'new' or plan_keys is not null) and ends_at > business_now();
alter table discount_campaigns
  drop constraint discount_campaigns_ended,
  drop column plan_keys,
  drop column ended_days,
  drop column audience;
