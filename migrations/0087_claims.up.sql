-- A transfer that the bank took back after the team had transferred its money back went out twice: the second sum is asked back.
alter table money_backs
  -- Since when the second sum is owed to us. Business time.
  add column claimed_at timestamptz,
  -- When it came, or was given up; the bank's reference of the transfer it came by (null: given up), and what the team says of it.
  add column reclaimed_at timestamptz,
  add column reclaimed_reference text check (length(reclaimed_reference) between 1 and 140),
  add column reclaim_reason text check (length(reclaim_reason) between 5 and 500),
  add constraint money_backs_claimed check (claimed_at is null or returned_reference is not null),
  add constraint money_backs_reclaimed check (
    (reclaimed_at is null) = (reclaim_reason is null)
    and (reclaimed_at is null or claimed_at is not null)
    and (reclaimed_reference is null or reclaimed_at is not null)
  );
update money_backs m set claimed_at = b.reversed_at from bank_transfers b
  where b.reference = m.transfer_reference and b.reversed_at is not null and m.returned_reference is not null;
create unique index money_backs_reclaimed_reference on money_backs (reclaimed_reference) where reclaimed_reference is not null;
create index money_backs_to_claim on money_backs (claimed_at) where claimed_at is not null and reclaimed_at is null;
