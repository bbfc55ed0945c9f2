-- A mail that tells of a new way to sign in has a link by which the owner removes it (server/features/auth/disown-way.ts).
alter table email_links
  -- When the way was added, in business time. The link removes it and what was added after it.
  add column ways_since timestamptz,
  drop constraint email_links_purpose_check,
  add constraint email_links_purpose_check
    check (purpose in ('confirm', 'recover', 'change-email', 'undo-email', 'reset-factors', 'disown-way')),
  drop constraint email_links_address,
  -- The address of such a link is the mailbox that it was mailed to.
  add constraint email_links_address check ((address is not null) = (purpose in ('change-email', 'undo-email', 'disown-way'))),
  add constraint email_links_ways check ((ways_since is not null) = (purpose = 'disown-way'));

-- When the newest of the ways shown in this sign-in was added, in business time. Null: none of them came after the account was made.
alter table auth_sessions add column way_added_at timestamptz;

-- Reversing a change of address also removes the ways that the mailbox has unused links to remove: they may be older than the change.
create or replace function undo_ways_in(p_link uuid) returns integer language sql security definer set search_path = public, pg_temp as $$
  with used as (
      select id, user_id, purpose, address, created_at, ways_since from email_links
        where id = p_link and purpose in ('undo-email', 'disown-way') and used_at is not null),
    undone as (
      select user_id, case purpose when 'disown-way' then ways_since else least(
          business_now() - (now() - created_at),
          (select min(told.ways_since) from email_links told
            where told.user_id = used.user_id and told.purpose = 'disown-way' and told.address = used.address
              and told.used_at is null and told.expires_at > now())) end as since
        from used),
    shown as (delete from credentials c using undone
      where c.user_id = undone.user_id and c.kind <> 'password' and c.created_at >= undone.since returning 1),
    known as (delete from identities i using undone
      where i.user_id = undone.user_id and i.kind <> 'email' and i.created_at >= undone.since returning 1),
    keys as (delete from passkeys p using undone where p.user_id = undone.user_id and p.created_at >= undone.since returning 1)
  select ((select count(*) from shown) + (select count(*) from known) + (select count(*) from keys))::integer
$$;
