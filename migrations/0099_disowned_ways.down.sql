create or replace function undo_ways_in(p_link uuid) returns integer language sql security definer set search_path = public, pg_temp as $$
  with undone as (
      select user_id, business_now() - (now() - created_at) as since from email_links
        where id = p_link and purpose = 'undo-email' and used_at is not null),
    shown as (delete from credentials c using undone
      where c.user_id = undone.user_id and c.kind <> 'password' and c.created_at >= undone.since returning 1),
    known as (delete from identities i using undone
      where i.user_id = undone.user_id and i.kind <> 'email' and i.created_at >= undone.since returning 1),
    keys as (delete from passkeys p using undone where p.user_id = undone.user_id and p.created_at >= undone.since returning 1)
  select ((select count(*) from shown) + (select count(*) from known) + (select count(*) from keys))::integer
$$;
alter table auth_sessions drop column way_added_at;
delete from email_links where purpose = 'disown-way';
alter table email_links
  drop constraint email_links_ways,
  drop constraint email_links_address,
  add constraint email_links_address check ((address is not null) = (purpose in ('change-email', 'undo-email'))),
  drop constraint email_links_purpose_check,
  add constraint email_links_purpose_check check (purpose in ('confirm', 'recover', 'change-email', 'undo-email', 'reset-factors')),
  drop column ways_since;
