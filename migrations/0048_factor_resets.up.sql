-- Requests to remove a second factor that its owner has lost (server/features/auth/factor-reset.ts).
create table factor_resets (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  -- Business time, all of them.
  asked_at timestamptz not null,
  -- When its next step is due: first the link is mailed, then the request expires.
  due_at timestamptz not null,
  mailed_at timestamptz check (mailed_at >= asked_at + interval '72 hours'),
  ended_at timestamptz,
  ending text check (ending in ('cancelled', 'expired', 'removed')),
  check ((ended_at is null) = (ending is null)),
  check (ending <> 'removed' or mailed_at is not null)
);
-- One at a time.
create unique index factor_resets_open on factor_resets (user_id) where ended_at is null;
create index factor_resets_user on factor_resets (user_id);
create index factor_resets_due on factor_resets (due_at) where ended_at is null;
create index factor_resets_ended on factor_resets (ended_at) where ended_at is not null;

-- Requests, 30 days after they ended.
create function retention_factor_resets(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, ended_at as at from factor_resets
      where ended_at >= coalesce(p_from, '-infinity')::timestamptz and ended_at <= business_now() - interval '30 days'
      order by ended_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from factor_resets where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
