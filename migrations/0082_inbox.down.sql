drop index dead_letters_mail;
drop table contact_events;
drop index contact_messages_email;
create index contact_messages_email on contact_messages (lower(email));
create index contact_messages_created on contact_messages (created_at);
drop index contact_messages_owner, contact_messages_language, contact_messages_category, contact_messages_status, contact_messages_order;
alter table contact_messages drop column version, drop column owner_id, drop column status;
