-- Customers of an account that were deleted at Stripe (docs/decisions/0120). Their charges and invoices stay there and can still change, but
-- Stripe no longer says which account they were of.
create table former_customers (
  stripe_customer_id text primary key,
  billing_account_id uuid not null references billing_accounts,
  -- When we noticed, business time.
  retired_at timestamptz not null
);
create index former_customers_account on former_customers (billing_account_id);

-- As in 0034_billing_accounts, and the former customers go too.
create or replace function billing_account_close() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- The two last members may be deleted at the same moment: the second waits here and sees that the first is gone.
  perform from billing_accounts where id = old.billing_account_id for no key update;
  if exists (select from billing_account_members where billing_account_id = old.billing_account_id) then return null; end if;
  update billing_accounts set stripe_customer_id = null where id = old.billing_account_id;
  delete from former_customers where billing_account_id = old.billing_account_id;
  update scheduled_grants set cancelled_at = business_now()
    where billing_account_id = old.billing_account_id and posted_at is null and cancelled_at is null;
  return null;
end $$;

-- As in 0043_account_deletion, and with what Stripe's events said of former customers.
create or replace function account_erase(p_user uuid, p_limit integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_done integer;
  v_conversations uuid[];
  v_messages uuid[];
  v_addresses text[];
  v_customers text[];
  naming record;
begin
  -- Whoever restores the account at this moment has locked the row, or waits for us and is too late.
  perform from users where id = p_user and delete_at <= business_now() for no key update;
  if not found then return 0; end if;

  v_conversations := array(select id from conversations where user_id = p_user order by updated_at desc, id desc limit least(p_limit, 20));
  if cardinality(v_conversations) > 0 then
    -- The last messages first: others follow the first ones.
    v_messages := array(select m.id from unnest(v_conversations) c (id)
      cross join lateral (select id from messages where conversation_id = c.id order by id desc limit p_limit) m limit p_limit);
    if cardinality(v_messages) = 0 then
      delete from conversations where id = any (v_conversations);
      return cardinality(v_conversations);
    end if;
    perform answers_erase(array(select generation_id from messages where id = any (v_messages) and generation_id is not null));
    update conversations set head_id = null where id = any (v_conversations) and head_id = any (v_messages);
    -- Ids are in the order of time, but of the clocks of several processes: some that stay may follow one that goes.
    update messages set parent_id = null
      where conversation_id = any (v_conversations) and parent_id = any (v_messages) and id <> all (v_messages);
    delete from messages where id = any (v_messages);
    return cardinality(v_messages);
  end if;

  -- Receipts stay, of nobody. A trigger deletes what answers without a conversation said.
  update generations set user_id = null, idempotency_key = concat('erased ', id)
    where id in (select id from generations where user_id = p_user limit p_limit);
  get diagnostics v_done = row_count;
  if v_done > 0 then return v_done; end if;

  v_addresses := array(select lower(subject) from identities where user_id = p_user and kind = 'email');
  with gone as (
      delete from contact_messages where id in (
        (select id from contact_messages where user_id = p_user limit p_limit)
        union all (select id from contact_messages where lower(email) = any (v_addresses) limit p_limit)) returning id),
    to_team as (delete from mails where key in (select 'contact-message:' || id from gone))
  select count(*) into v_done from gone;
  if v_done > 0 then return v_done; end if;
  delete from mails where id in (
    (select id from mails where user_id = p_user limit p_limit)
    union all (select id from mails where lower(recipient) = any (v_addresses) limit p_limit));
  get diagnostics v_done = row_count;
  if v_done > 0 then return v_done; end if;

  -- Customers that other people share stay.
  if not exists (select from billing_account_members m where m.billing_account_id = payer_of(p_user) and m.user_id <> p_user) then
    v_customers := array(select a.stripe_customer_id from billing_accounts a where a.id = payer_of(p_user) and a.stripe_customer_id is not null
      union all select f.stripe_customer_id from former_customers f where f.billing_account_id = payer_of(p_user));
  end if;
  update stripe_events set payload = '{}' where id in (select id from stripe_events
    where payload <> '{}' and coalesce(payload #>> '{data,object,customer}', object_id) = any (v_customers) limit p_limit);
  get diagnostics v_done = row_count;
  if v_done > 0 then return v_done; end if;

  -- Not audit_people, which is one row: the last event needs it.
  for naming in
    select k.conrelid::regclass as name, a.attname as key from pg_constraint k
      join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
      where k.contype = 'f' and k.confrelid = 'users'::regclass and k.confdeltype = 'c' and k.conrelid <> 'audit_people'::regclass
      order by k.conrelid::regclass::text
  loop
    execute format('delete from %s where ctid = any (array(select ctid from %s where %I = $1 limit $2))', naming.name, naming.name, naming.key)
      using p_user, p_limit;
    get diagnostics v_done = row_count;
    if v_done > 0 then return v_done; end if;
  end loop;

  perform audit_record(p_user, p_user, 'account.deleted', null, '{}');
  delete from users where id = p_user;
  return 1;
end $$;
