-- The address that a link gives to its person: the new one of a change, the earlier one of its reversal. It goes with the link.
-- An address of a reversal that can still be made is nobody else's (server/features/auth/addresses.ts).
alter table email_links
  add column address text check (address = lower(address) and length(address) <= 255),
  add constraint email_links_address check ((address is not null) = (purpose in ('change-email', 'undo-email')));
create index email_links_address on email_links (address) where address is not null;

-- Takes away what somebody got to sign in with since a change of their address was asked for, once that change is being reversed: whoever
-- asked for it may have added it. Returns how many.
create function undo_ways_in(p_link uuid) returns integer language sql security definer set search_path = public, pg_temp as $$
  with undone as (
      select user_id, business_now() - (now() - created_at) as since from email_links
        where id = p_link and purpose = 'undo-email' and used_at is not null),
    shown as (delete from credentials c using undone
      where c.user_id = undone.user_id and c.kind <> 'password' and c.created_at >= undone.since returning 1),
    known as (delete from identities i using undone
      where i.user_id = undone.user_id and i.kind <> 'email' and i.created_at >= undone.since returning 1)
  select ((select count(*) from shown) + (select count(*) from known))::integer
$$;
