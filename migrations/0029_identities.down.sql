drop function retention_sign_ups;

alter table users add column email text, add column mailbox_key text, add column email_verified_at timestamptz, add column password_hash text;
update users u set email = i.subject, email_verified_at = i.verified_at,
    password_hash = (select c.data ->> 'hash' from credentials c where c.user_id = u.id and c.kind = 'password')
  from identities i where i.user_id = u.id and i.kind = 'email';

-- Sign-ups that wait become unconfirmed accounts again: one for each address, with the links of all of its sign-ups.
insert into users (email, language, created_at)
  select distinct on (email) email, language, created_at from sign_ups s
    where email is not null and not exists (select from users u where u.email = s.email) order by email, created_at;
alter table email_links add column password_hash text, drop constraint email_links_of_one, drop constraint email_links_sign_up_id_fkey;
update email_links l set user_id = u.id, password_hash = s.password_hash
  from sign_ups s join users u on u.email = s.email where s.id = l.sign_up_id and u.email_verified_at is null;
delete from email_links where user_id is null;
update email_links set sign_up_id = uuidv7() where sign_up_id is null;
drop index email_links_sign_up;
alter table email_links
  alter column user_id set not null,
  alter column sign_up_id set not null,
  alter column sign_up_id set default uuidv7();

-- As server/domain/rules.ts has it, but for domains in other alphabets; no release that has the column reads it.
update users set mailbox_key = case when split_part(email, '@', 2) in ('gmail.com', 'googlemail.com')
    then replace(split_part(split_part(email, '@', 1), '+', 1), '.', '') || '@gmail.com'
    else split_part(split_part(email, '@', 1), '+', 1) || '@' || split_part(email, '@', 2) end;
alter table users
  alter column email set not null,
  alter column mailbox_key set not null,
  add constraint users_email_check check (email = lower(email) and length(email) <= 255);
create unique index users_email on users (email);
create index users_unconfirmed on users (created_at) where email_verified_at is null;

drop table identities, credentials, sign_ups;

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
