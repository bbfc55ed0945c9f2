-- For whom a discount campaign is (decision 93): people who never paid, or who paid for a plan that ended at least so many days ago; and for which plans.
alter table discount_campaigns
  add column audience text not null default 'new' check (audience in ('new', 'left')),
  add column ended_days integer check (ended_days between 1 and 730),
  -- Null: for every plan.
  add column plan_keys text[] check (cardinality(plan_keys) > 0),
  add constraint discount_campaigns_ended check ((audience = 'left') = (ended_days is not null));
