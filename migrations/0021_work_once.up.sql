-- A job that is asked for again while it still waits is the same job: `once` names what it is about.
alter table outbox add column once text;
create unique index outbox_once on outbox (job, once) where once is not null;

-- Failed work goes 90 days after it was put back and, where nobody does that, 90 days after it failed.
drop index dead_letters_settled;
create index dead_letters_left on dead_letters (coalesce(replayed_at, failed_at));
create or replace function retention_dead_letters(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, coalesce(replayed_at, failed_at) as at from dead_letters
      where coalesce(replayed_at, failed_at) >= coalesce(p_from, '-infinity')::timestamptz and coalesce(replayed_at, failed_at) <= now() - interval '90 days'
      order by coalesce(replayed_at, failed_at) limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from dead_letters where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
