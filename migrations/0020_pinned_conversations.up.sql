alter table conversations add column pinned boolean not null default false;
-- The list begins with the pinned ones; a search goes by time alone, through conversations_user.
create index conversations_listed on conversations (user_id, pinned desc, updated_at desc, id desc);
