-- The free trial (server/features/billing/trials.ts). Its credits are a grant of the ledger, of the kind `trial`.
create table trials (
  -- One for each person.
  user_id uuid primary key references users on delete cascade,
  -- Business time, all of them.
  started_at timestamptz not null,
  ends_at timestamptz not null,
  -- When its next step is due: first the reminder, then the end. Null once it has ended.
  due_at timestamptz,
  check (started_at < ends_at),
  check (due_at > started_at and due_at <= ends_at)
);
create index trials_due on trials (due_at) where due_at is not null;

-- The mailboxes that had a trial, which outlive the account: each as a keyed hash, which nobody can read as an address.
create table trial_mailboxes (
  mailbox_hash bytea primary key check (octet_length(mailbox_hash) = 32),
  started_at timestamptz not null
);
create index trial_mailboxes_started on trial_mailboxes (started_at);

-- Mailboxes, 730 days after the trial began.
create function retention_trial_mailboxes(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select mailbox_hash, started_at as at from trial_mailboxes
      where started_at >= coalesce(p_from, '-infinity')::timestamptz and started_at <= business_now() - interval '730 days'
      order by started_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from trial_mailboxes where mailbox_hash in (select mailbox_hash from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
