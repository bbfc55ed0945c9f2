-- A person's checks of their payments (server/features/billing/doctor.ts): one at a time for each account, and a few an hour. PostgreSQL's time.
create table payment_checks (
  billing_account_id uuid primary key references billing_accounts,
  leased_until timestamptz,
  window_began_at timestamptz not null default clock_timestamp(),
  -- Within the window.
  checks integer not null default 0,
  -- What the last check found.
  finished_at timestamptz,
  result jsonb
);
create index payment_checks_window on payment_checks (window_began_at);

-- The last check of an account, 30 days after its window began.
create function retention_payment_checks(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select billing_account_id, window_began_at as at from payment_checks
      where window_began_at >= coalesce(p_from, '-infinity')::timestamptz and window_began_at <= clock_timestamp() - interval '30 days'
        and (leased_until is null or leased_until < clock_timestamp())
      order by window_began_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from payment_checks where billing_account_id in (select billing_account_id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
