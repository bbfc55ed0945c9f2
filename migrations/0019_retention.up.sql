-- How long things are kept (server/domain/retention.ts). Each function deletes what is past its bound and nothing else, a
-- batch at a time, the bound being its own: the application's role calls it and needs no right to delete. Rows somebody
-- holds are left for the next time, and what it looks for is found by an index, however much is kept. An index keeps what was
-- deleted until the next vacuum, so each batch begins where the one before it ended: `reached`, given back as p_from.

-- Business time, as the processes reckon it (server/db/business-clock.ts).
create function business_now() returns timestamptz language sql stable security definer set search_path = public, pg_temp as $$
  select now() + offset_ms * interval '1 millisecond' from business_clock
$$;

create index users_unconfirmed on users (created_at) where email_verified_at is null;
create index email_links_ended on email_links (coalesce(used_at, expires_at));
create index auth_sessions_ended on auth_sessions (least(revoked_at, expires_at));
create index auth_attempts_begun on auth_attempts (window_started_at);
create index dead_letters_settled on dead_letters (replayed_at) where replayed_at is not null;
create index mails_with_body on mails (created_at) where parameters <> '{}';
create index mails_created on mails (created_at);
create index contact_messages_created on contact_messages (created_at);
-- Deleting a person looks at every table that names one: at all of their rows, so that no index on some of them serves.
drop index auth_sessions_user, email_links_user, checkouts_open;
create index auth_sessions_user on auth_sessions (user_id);
create index email_links_user on email_links (user_id, purpose);
create index checkouts_user on checkouts (user_id, price_id);
create index mails_user on mails (user_id) where user_id is not null;
create index stripe_events_with_payload on stripe_events (received_at) where payload <> '{}';

-- Accounts nobody confirmed within 30 days, with what hangs on them. One that can't be deleted is set aside, as the other
-- sweeps do it (server/queue/sweep-rows.ts), so that it keeps none of the others: `done` is how many were deleted or
-- set aside, and none of them is found again. A batch ends itself after 15 ms, for what hangs on an account may be much.
create function retention_unconfirmed_accounts(p_limit integer, p_from text)
returns table (done integer, reached text) language plpgsql security definer
set search_path = public, pg_temp set lock_timeout = '15ms' as $$
declare
  candidate record;
  v_done integer := 0;
  v_until timestamptz := clock_timestamp() + interval '15 milliseconds';
begin
  for candidate in
    select u.id, u.created_at from users u
      where u.email_verified_at is null and u.created_at >= coalesce(p_from, '-infinity')::timestamptz
        and u.created_at <= business_now() - interval '30 days'
        and not exists (select from wallets w where w.user_id = u.id)
        and u.id::text <> all (array(
          select subject from sweep_failures where sweep = 'unconfirmed-accounts' and retry_at > clock_timestamp()))
      order by u.created_at limit least(p_limit, 1000) for update skip locked
  loop
    v_done := v_done + 1;
    reached := candidate.created_at;
    begin
      delete from users where id = candidate.id;
      delete from sweep_failures where sweep = 'unconfirmed-accounts' and subject = candidate.id::text;
    -- A cancelled statement and one that ran out of time are not among the others.
    exception when others or query_canceled then
      raise warning 'account % could not be deleted: %', candidate.id, sqlerrm;
      insert into sweep_failures as known (sweep, subject, failures, retry_at, error)
        values ('unconfirmed-accounts', candidate.id::text, 1, clock_timestamp() + interval '1 hour', left(sqlerrm, 2000))
        on conflict (sweep, subject) do update set failures = known.failures + 1, error = excluded.error,
          retry_at = clock_timestamp() + least(power(2, least(known.failures, 20)), 24) * interval '1 hour';
      exit when sqlstate = '57014';
    end;
    exit when clock_timestamp() > v_until;
  end loop;
  -- Those confirmed meanwhile, or gone otherwise: the others are tried at least once a day.
  delete from sweep_failures where sweep = 'unconfirmed-accounts' and retry_at < clock_timestamp() - interval '2 days';
  done := v_done;
  return next;
end $$;

-- Mailed links, 7 days after they were opened or expired.
create function retention_links(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, coalesce(used_at, expires_at) as at from email_links
      where coalesce(used_at, expires_at) >= coalesce(p_from, '-infinity')::timestamptz and coalesce(used_at, expires_at) <= now() - interval '7 days'
      order by coalesce(used_at, expires_at) limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from email_links where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;

-- Sign-ins, 30 days after they ended.
create function retention_sessions(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, least(revoked_at, expires_at) as at from auth_sessions
      where least(revoked_at, expires_at) >= coalesce(p_from, '-infinity')::timestamptz and least(revoked_at, expires_at) <= now() - interval '30 days'
      order by least(revoked_at, expires_at) limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from auth_sessions where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;

-- Attempts counted for more than a day; none that still has somebody wait.
create function retention_attempts(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select key, window_started_at as at from auth_attempts
      where window_started_at >= coalesce(p_from, '-infinity')::timestamptz and window_started_at <= now() - interval '1 day'
        and coalesce(blocked_until <= now(), true)
      order by window_started_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from auth_attempts where key in (select key from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;

-- The events of answers that ended 25 hours ago. An answer's id is a UUIDv7 of wall time, older than its end: those that
-- may be due are the first of the index.
create function retention_answer_logs(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select e.generation_id, e.first_event from generation_events e join generations g on g.id = e.generation_id
      where e.generation_id >= coalesce(p_from, '00000000-0000-0000-0000-000000000000')::uuid
        and e.generation_id <= (select uuidv7(interval '-25 hours')) and g.ended_at <= business_now() - interval '25 hours'
      order by e.generation_id, e.first_event limit least(p_limit, 1000) for update of e skip locked),
    deleted as (delete from generation_events e using past where e.generation_id = past.generation_id and e.first_event = past.first_event
      returning 1)
  select (select count(*)::integer from deleted), (select generation_id::text from past order by generation_id desc limit 1)
$$;

-- Failed work, 90 days after it was put back.
create function retention_dead_letters(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, replayed_at as at from dead_letters
      where replayed_at >= coalesce(p_from, '-infinity')::timestamptz and replayed_at <= now() - interval '90 days'
      order by replayed_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from dead_letters where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;

-- What mails said, 30 days after they were written.
create function retention_mail_bodies(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, created_at as at from mails
      where created_at >= coalesce(p_from, '-infinity')::timestamptz and parameters <> '{}' and created_at <= business_now() - interval '30 days'
      order by created_at limit least(p_limit, 1000) for update skip locked),
    emptied as (update mails set parameters = '{}' where id in (select id from past) returning 1)
  select (select count(*)::integer from emptied), (select at::text from past order by at desc limit 1)
$$;

-- Which mails there were, a year after.
create function retention_mails(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, created_at as at from mails
      where created_at >= coalesce(p_from, '-infinity')::timestamptz and created_at <= business_now() - interval '365 days'
      order by created_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from mails where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;

-- What people wrote to the team, two years after.
create function retention_contact_messages(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, created_at as at from contact_messages
      where created_at >= coalesce(p_from, '-infinity')::timestamptz and created_at <= business_now() - interval '730 days'
      order by created_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from contact_messages where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;

-- What Stripe's events said, 90 days after they came.
create function retention_stripe_payloads(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, received_at as at from stripe_events
      where received_at >= coalesce(p_from, '-infinity')::timestamptz and payload <> '{}' and received_at <= now() - interval '90 days'
      order by received_at limit least(p_limit, 1000) for update skip locked),
    emptied as (update stripe_events set payload = '{}' where id in (select id from past) returning 1)
  select (select count(*)::integer from emptied), (select at::text from past order by at desc limit 1)
$$;
