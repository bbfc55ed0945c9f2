-- Why the status of a message was set (docs/decisions/0096). Null for what was done before, and for what says it itself.
alter table contact_events add column reason text check (char_length(reason) between 1 and 500);
