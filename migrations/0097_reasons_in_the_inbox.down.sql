alter table contact_events drop column reason;
