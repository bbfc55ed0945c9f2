-- The kinds of optional mails that a person switched off (server/domain/notifications.ts has the kinds).
alter table users add column declined_mails text[] not null default '{}';
