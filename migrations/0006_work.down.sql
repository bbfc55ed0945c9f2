drop table business_clock, mails, schedules, dead_letters, outbox;
