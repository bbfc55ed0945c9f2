-- A second factor is rows of credentials: the secret of an authenticator app, encrypted, and hashes of recovery codes.
alter table credentials drop constraint credentials_kind_check,
  add constraint credentials_kind_check check (kind in ('password', 'totp', 'recovery_code')),
  add constraint credentials_totp_data check (kind <> 'totp'
    or jsonb_typeof(data -> 'sealedSecret') = 'string' and jsonb_typeof(data -> 'lastStep') = 'number'),
  add constraint credentials_recovery_code_data check (kind <> 'recovery_code' or jsonb_typeof(data -> 'hash') = 'string');
create unique index credentials_one_totp on credentials (user_id) where kind = 'totp';
create unique index credentials_recovery_codes on credentials (user_id, (data ->> 'hash')) where kind = 'recovery_code';

-- A sign-in whose first factor was shown and whose second one was not: no session, and nothing that becomes one by itself.
create table pending_sign_ins (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  -- The first factor, as the audit log names it.
  factor text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index pending_sign_ins_user on pending_sign_ins (user_id);
create index pending_sign_ins_expired on pending_sign_ins (expires_at);

-- Takes away what a person shows beside their password. The application's role deletes no other credential.
create function factors_remove(p_user uuid, p_kinds text[]) returns integer
language sql security definer set search_path = public, pg_temp as $$
  with deleted as (
    delete from credentials where user_id = p_user and kind = any(p_kinds) and kind in ('totp', 'recovery_code') returning 1)
  select count(*)::integer from deleted
$$;

-- Sign-ins that waited for their second factor, a day after they expired.
create function retention_pending_sign_ins(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, expires_at as at from pending_sign_ins
      where expires_at >= coalesce(p_from, '-infinity')::timestamptz and expires_at <= now() - interval '1 day'
      order by expires_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from pending_sign_ins where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
