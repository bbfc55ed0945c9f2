-- What a job failed for of its own, apart from how often it was published: an outage or a long queue is no failure of it.
alter table outbox add column failures integer not null default 0;
