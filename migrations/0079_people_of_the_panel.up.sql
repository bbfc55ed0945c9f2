-- What the admin panel finds people by, and the orders of its lists.
create index users_created on users (created_at, id);
create index users_name on users (lower(name) text_pattern_ops) where name is not null;
create index users_banned on users (created_at, id) where banned_at is not null;
create index identities_email on identities (subject text_pattern_ops, user_id) where kind = 'email';
