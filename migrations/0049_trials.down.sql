drop function retention_trial_mailboxes;
drop table trial_mailboxes;
drop table trials;
