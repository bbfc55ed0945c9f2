alter table outbox drop column failures;
