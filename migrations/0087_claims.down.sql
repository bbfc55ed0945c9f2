drop index money_backs_to_claim, money_backs_reclaimed_reference;
alter table money_backs
  drop constraint money_backs_reclaimed,
  drop constraint money_backs_claimed,
  drop column reclaim_reason,
  drop column reclaimed_reference,
  drop column reclaimed_at,
  drop column claimed_at;
