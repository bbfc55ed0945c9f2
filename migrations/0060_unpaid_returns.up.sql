-- The hourly check looks for money that was asked back and has not gone back. Those are few, however many have gone back.
create index money_backs_unpaid on money_backs (asked_at) where done_at is null;
