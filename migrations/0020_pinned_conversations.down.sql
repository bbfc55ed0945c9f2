drop index conversations_listed;
alter table conversations drop column pinned;
