create or replace function retention_dead_letters(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, replayed_at as at from dead_letters
      where replayed_at >= coalesce(p_from, '-infinity')::timestamptz and replayed_at <= now() - interval '90 days'
      order by replayed_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from dead_letters where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
drop index dead_letters_left;
create index dead_letters_settled on dead_letters (replayed_at) where replayed_at is not null;
drop index outbox_once;
alter table outbox drop column once;
