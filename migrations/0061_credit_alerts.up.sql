-- One alert for each month of a plan, at the share of its credits that the account's members chose (decision 54).

-- The share in percent at which the alert comes; null: none. Of the wallets that are there it is the one everybody begins with.
alter table wallets add column alert_percent smallint default 80;
-- A plan's grant keeps the share that holds for its month, and whether it was told. It has no check constraint: PostgreSQL would read it
-- anew at each hold and capture (0038).
alter table grants
  add column alert_percent smallint default 80,
  add column alert_told boolean not null default false,
  add column alert_dismissed boolean not null default false;
alter table grants alter column alert_percent drop default;

create function grants_take_alert() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  new.alert_percent := (select w.alert_percent from wallets w where w.id = new.wallet_id);
  return new;
end $$;
create trigger grants_alert_taken before insert on grants for each row when (new.kind = 'plan') execute function grants_take_alert();

-- Whoever spends holds the wallet's lock, so of several answers that end at once exactly one passes the share. The row is written anyway:
-- until then the alert costs the condition below and nothing else.
create function grants_tell_alert() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  new.alert_told := true;
  insert into outbox (job, payload) values ('tell-low-credits', jsonb_build_object('grantId', new.id));
  return new;
end $$;
-- What expired or was taken back with its money was not spent.
create trigger grants_alert_passed before update of remaining on grants for each row when (
  new.alert_percent is not null and not new.alert_told and new.kind = 'plan' and new.remaining < old.remaining
  and new.expired_at is null and new.clawed_back = old.clawed_back
  and (new.credits - new.clawed_back - old.remaining) * 100 < new.alert_percent * (new.credits - new.clawed_back)
  and (new.credits - new.clawed_back - new.remaining) * 100 >= new.alert_percent * (new.credits - new.clawed_back)
) execute function grants_tell_alert();

-- Sets the share for this month and the later ones; null: no alert. A month that was told of is not told of again.
create function credit_alert_set(p_user uuid, p_percent integer) returns void language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  v_wallet uuid;
begin
  if p_percent not between 1 and 99 then raise exception 'no alert at % percent', p_percent using errcode = 'TS400'; end if;
  update wallets w set alert_percent = p_percent where w.billing_account_id = payer_of(p_user) returning w.id into v_wallet;
  update grants g set alert_percent = p_percent where g.wallet_id = v_wallet and g.open and g.kind = 'plan' and not g.alert_told;
end $$;

-- The account's members have read the alert.
create function credit_alert_dismiss(p_user uuid, p_now timestamptz) returns void language sql security definer
set search_path = public, pg_temp as $$
  update grants g set alert_dismissed = true from wallets w
    where w.billing_account_id = payer_of(p_user) and g.wallet_id = w.id and g.open = any ('{true,false}') and g.expires_at > p_now
      and g.alert_told and not g.alert_dismissed
$$;
