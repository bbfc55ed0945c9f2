-- What a person adds to their account: a name, and a picture.
alter table users add column name text check (name = btrim(name) and char_length(name) between 1 and 100);

-- The pictures in the file storage (docs/decisions/0032). A row is there before its files and goes after them, so that no file is forgotten.
create table avatars (
  -- Random, and a part of the files' names and of the address: whoever has not seen the picture can't find it.
  name uuid primary key,
  -- Null: nobody's. It is being uploaded, or was replaced or removed, or the person is gone. The worker deletes its files.
  user_id uuid unique references users on delete set null,
  -- Wall time.
  created_at timestamptz not null default now()
);
create index avatars_unused on avatars (created_at) where user_id is null;

-- To be called once the files are deleted. Leaves alone what is somebody's picture.
create function avatar_forget(p_name uuid) returns void language sql security definer set search_path = public, pg_temp as $$
  delete from avatars where name = p_name and user_id is null
$$;
