-- Entries of what waits for the team that somebody put off until a day (docs/decisions/0111): they are shown again from that day in UTC on.
create table put_off_needs (
  kind text not null check (char_length(kind) <= 30),
  -- Which entry of its list it is, and what was to be done about it: once that is something else, it is shown.
  entry text not null check (char_length(entry) between 1 and 200),
  -- Whom it is about: the reason may name them.
  user_id uuid references users on delete cascade,
  -- The beginning of that day. Times are business time.
  until timestamptz not null,
  put_off_by uuid references users on delete set null,
  reason text not null check (char_length(reason) <= 500),
  created_at timestamptz not null,
  check (until <= created_at + interval '30 days'),
  primary key (kind, entry)
);
create index put_off_needs_until on put_off_needs (until);
create index put_off_needs_by on put_off_needs (put_off_by);
create index put_off_needs_user on put_off_needs (user_id);

create function retention_put_off_needs(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select kind, entry, until from put_off_needs
      where until >= coalesce(p_from, '-infinity')::timestamptz and until <= business_now() - interval '1 day'
      order by until limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from put_off_needs p using past where (p.kind, p.entry) = (past.kind, past.entry) returning 1)
  select (select count(*)::integer from deleted), (select until::text from past order by until desc limit 1)
$$;
