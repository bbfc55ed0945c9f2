drop index dead_letters_mail;
drop trigger dead_letters_mail_id on dead_letters;
drop function dead_letter_names_mail();
alter table dead_letters drop column mail_id;
create index dead_letters_mail on dead_letters using gin (payload jsonb_path_ops) where job = 'send-mail';
drop index outbox_due_by_job;
