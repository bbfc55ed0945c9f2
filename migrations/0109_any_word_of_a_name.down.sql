drop index users_name_from_2;
drop index users_name_from_3;
drop index users_name_from_4;
drop index users_name_from_5;
drop index users_name_from_6;
drop index audit_events_letter;
