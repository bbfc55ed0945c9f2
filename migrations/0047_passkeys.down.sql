create or replace function undo_ways_in(p_link uuid) returns integer language sql security definer set search_path = public, pg_temp as $$
  with undone as (
      select user_id, business_now() - (now() - created_at) as since from email_links
        where id = p_link and purpose = 'undo-email' and used_at is not null),
    shown as (delete from credentials c using undone
      where c.user_id = undone.user_id and c.kind <> 'password' and c.created_at >= undone.since returning 1),
    known as (delete from identities i using undone
      where i.user_id = undone.user_id and i.kind <> 'email' and i.created_at >= undone.since returning 1)
  select ((select count(*) from shown) + (select count(*) from known))::integer
$$;
drop function retention_passkey_challenges;
drop function passkey_remove;
drop table passkey_challenges;
drop table passkeys;
