alter table discount_campaigns
  drop constraint discount_campaigns_ended,
  drop column plan_keys,
  drop column ended_days,
  drop column audience;
