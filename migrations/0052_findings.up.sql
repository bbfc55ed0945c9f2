-- What the checks of payments and books have found (server/features/findings/): once for each kind and subject, however often it is found.
create table findings (
  id uuid primary key default uuidv7(),
  kind text not null,
  -- The object it is about: an event, invoice or subscription of Stripe's, a grant, hold or wallet of the ledger.
  subject text not null,
  -- Whose it is; null if nobody knows.
  billing_account_id uuid references billing_accounts,
  details jsonb not null,
  -- Business time, all of them.
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  times_seen integer not null default 1 check (times_seen > 0),
  resolved_at timestamptz,
  resolved_by text check (resolved_by in ('hourly', 'full', 'doctor', 'itself', 'person')),
  unique (kind, subject),
  check (first_seen_at <= last_seen_at),
  check ((resolved_at is null) = (resolved_by is null))
);
create index findings_open on findings (billing_account_id, id) where resolved_at is null;
create index findings_resolved on findings (resolved_at) where resolved_at is not null;

-- The check of every account, which an operator asks for. The worker goes on where it was interrupted.
create table full_checks (
  singleton boolean primary key default true check (singleton),
  -- Business time.
  asked_at timestamptz,
  -- Null while it is under way, and if nobody has asked for one yet.
  done_at timestamptz,
  -- The last account it has checked.
  reached uuid not null default '00000000-0000-0000-0000-000000000000',
  accounts integer not null default 0,
  check (asked_at is not null or done_at is null)
);
insert into full_checks default values;

-- Findings, 365 days after they were resolved.
create function retention_findings(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, resolved_at as at from findings
      where resolved_at >= coalesce(p_from, '-infinity')::timestamptz and resolved_at <= business_now() - interval '365 days'
      order by resolved_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from findings where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
