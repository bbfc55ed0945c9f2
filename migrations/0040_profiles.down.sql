-- The files stay in the storage. Nothing leads to them any more.
update users set avatar_url = null where avatar_url like '/avatars/%';
drop function avatar_forget;
drop table avatars;
alter table users drop column name;
