-- A person lets the team read their conversations for a while (docs/decisions/0095): until when, and when the team asked for it last.
-- Times are business time. One row for a person; what happened before is on the audit log.
create table support_access (
  user_id uuid primary key references users on delete cascade,
  asked_at timestamptz,
  given_at timestamptz,
  until timestamptz,
  -- When the person took it back, or said no.
  ended_at timestamptz,
  check (asked_at is not null or given_at is not null),
  check ((given_at is null) = (until is null)),
  check (until > given_at and until <= given_at + interval '7 days')
);
create index support_access_over on support_access (greatest(asked_at, until));

create function retention_support_access(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select user_id, greatest(asked_at, until) as at from support_access
      where greatest(asked_at, until) >= coalesce(p_from, '-infinity')::timestamptz
        and greatest(asked_at, until) <= business_now() - interval '30 days'
      order by greatest(asked_at, until) limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from support_access where user_id in (select user_id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
