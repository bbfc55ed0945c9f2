-- The start of answers, for all whose requests share a statement: each rule is judged, and each table written, by one statement for all of
-- them (decision 116). `turn_start`, `answer_start` and `ledger_hold` say the same for one; the release before this one calls the first two.

-- Holds credits for several answers, each in a wallet of its own, those that expire soonest first. Either all are held or none: raises TS402
-- with what the first wallet that lacks credits could pay, or TS423 if a wallet is frozen.
create function ledger_hold_many(
  p_holds uuid[], p_wallets uuid[], p_amounts bigint[], p_kinds text[], p_now timestamptz[], p_deadlines timestamptz[], p_created_at timestamptz
) returns void language plpgsql security definer
set search_path = public, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  short record;
  v_setting text;
begin
  perform ledger_assert_amount(amount) from unnest(p_amounts) amount where amount is null or amount not between 1 and 1000000000;
  -- A hold need not wait for the disk: what a crash of PostgreSQL forgets within the next flush of the log was not charged (decision 8).
  v_setting := set_config('synchronous_commit', 'off', true);
  -- Before their grants are read, because a wallet may have to be waited for.
  perform from wallets w where w.id = any (p_wallets) order by w.id for update;
  if exists (select from wallets w where w.id = any (p_wallets) and w.frozen_at is not null) then
    raise exception 'wallet is frozen' using errcode = 'TS423';
  end if;
  with ask as materialized (
    select * from unnest(p_holds, p_wallets, p_amounts, p_kinds, p_now, p_deadlines) a (hold, wallet, amount, kinds, now, deadline)
  ), wallet as (
    update wallets w set held = w.held + p_amounts[array_position(p_wallets, w.id)]
      where w.id = any (p_wallets) and w.balance - w.held >= p_amounts[array_position(p_wallets, w.id)]
      returning p_holds[array_position(p_wallets, w.id)] as hold
  ), part as materialized (
    select listed.hold, listed.grant_id, least(listed.free, listed.amount - listed.before) as amount from (
      select ask.hold, ask.amount, paying.id as grant_id, paying.free, coalesce(sum(paying.free)
          over (partition by ask.hold order by paying.expires_at, paying.id rows between unbounded preceding and 1 preceding), 0)::bigint as before
        from ask cross join lateral (
          select g.id, g.expires_at, g.remaining - g.held as free from grants g
            where g.wallet_id = ask.wallet and g.open and g.remaining > g.held
              and g.kind = any (ask.kinds::text[]) and g.expired_at is null and g.expires_at > ask.now offset 0) paying
    ) listed where listed.before < listed.amount
  ), paying as (
    update grants g set held = g.held + part.amount from part
      where g.id = any (array(select p.grant_id from part p)) and part.grant_id = g.id returning part.hold, part.amount
  ), hold as (
    insert into holds (id, wallet_id, amount, deadline, created_at) select ask.hold, ask.wallet, ask.amount, ask.deadline, p_created_at from ask
  ), parts as (
    insert into hold_parts (hold_id, grant_id, amount) select part.hold, part.grant_id, part.amount from part
  )
  select coalesce(sum(paying.amount), 0)::text as available into short
    from ask left join wallet on wallet.hold = ask.hold left join paying on paying.hold = ask.hold
    group by ask.hold, ask.amount, wallet.hold having wallet.hold is null or coalesce(sum(paying.amount), 0) <> ask.amount limit 1;
  if found then
    raise exception 'not enough credits' using errcode = 'TS402', detail = short.available;
  end if;
end $$;

-- What few starts need is in functions of their own, because PostgreSQL prepares all parts of a statement each time it runs, needed or not.

-- In how many milliseconds the person may send again. Their latest sends fill their rate for a minute, or those of all people for whom the
-- account pays fill theirs: it is when the oldest of these sends is a minute old.
create function send_retry_after_ms(p_user uuid, p_payer uuid, p_members bigint, p_per_minute integer, p_clock timestamptz)
returns bigint language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
begin
  return (
    select extract(epoch from max(full_since.at) + interval '1 minute' - p_clock) * 1000 from (
      (select sent.at from (
          (select g.asked_at as at from generations g where g.user_id = p_user and g.asked_at > p_clock - interval '1 minute'
            order by g.asked_at desc limit p_per_minute)
          union all select unnest(r.refused_at) from refused_sends r where r.user_id = p_user
        ) sent order by sent.at desc offset p_per_minute - 1 limit 1)
      union all
      (select sent.at from (
          (select g.asked_at as at from generations g where g.payer_id = p_payer and g.asked_at > p_clock - interval '1 minute'
            order by g.asked_at desc limit p_per_minute * p_members)
          union all select unnest(r.refused_at) from refused_sends r join billing_account_members m on m.user_id = r.user_id
            where m.billing_account_id = p_payer
        ) sent order by sent.at desc offset p_per_minute * p_members - 1 limit 1)
    ) full_since);
end $$;

-- What is left of a hold that several answers share for those that are not asked yet; 0 if it is not the wallet's, or not open.
create function hold_unasked(p_hold uuid, p_wallet uuid) returns bigint language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
begin
  return coalesce((select h.amount - (select coalesce(sum(g.quoted_credits), 0) from generations g where g.hold_id = h.id)
    from holds h where h.id = p_hold and h.wallet_id = p_wallet and h.state = 'open'), 0);
end $$;

-- True if the person may send all of these files in the conversation.
create function attachments_are_there(p_attachments jsonb, p_user uuid, p_conversation uuid) returns boolean language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
begin
  return coalesce((
    select bool_and(coalesce((
        select f.user_id = p_user and f.kind = 'attachment' and f.content_type is not null and (f.conversation_id is null or f.conversation_id = p_conversation)
          from files f where f.id = (a ->> 'fileId')::uuid), false))
      from jsonb_array_elements(p_attachments) a), true);
end $$;

-- Refused sends count towards the rate of whoever sent them.
create function sends_refuse(p_users uuid[], p_clock timestamptz) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
begin
  insert into refused_sends as before (user_id, refused_at) select asker, array[p_clock] from unnest(p_users) asker
    on conflict (user_id) do update set refused_at = p_clock || array(
      select refused.at from unnest(before.refused_at) refused (at) where refused.at > p_clock - interval '1 minute' order by refused.at desc);
end $$;

-- What each of them has spent by now on the day.
create function spending_count(p_users uuid[], p_days date[], p_credits bigint[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
begin
  update spending_limits l set day = greatest(l.day, p_days[array_position(p_users, l.user_id)]), day_credits = p_credits[array_position(p_users, l.user_id)]
    where l.user_id = any (p_users);
end $$;

-- Files that were sent with a question belong to its conversation.
create function attachments_place(p_asks json[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  sent record;
begin
  for sent in
    select ask."conversationId" as conversation_id, ask.attachments
      from unnest(p_asks) as asked (ask)
        cross join lateral json_to_record(asked.ask) as ask (id uuid, "conversationId" uuid, prompt text, attachments jsonb)
      where ask.prompt is not null and ask.attachments is not null and (select g.id from generations g where g.id = ask.id) is not null
  loop
    update files f set conversation_id = sent.conversation_id
      where f.id = any (array(select (a ->> 'fileId')::uuid from jsonb_array_elements(sent.attachments) a)) and f.conversation_id is null;
  end loop;
end $$;

-- Starts the answers of `p_asks` (the fields of StartRow and PlannedTurn in starts.ts) or says why not. `p_users`, `p_conversations` and
-- `p_files` are those that occur in it. Without `p_wait`, people whose wallet is locked are left out and get no row, so that nobody waits for
-- another person's lock; if a conversation or a file of theirs is locked, the statement fails after 50 ms.
-- PostgreSQL may plan this while the tables are empty, when every plan looks as good as another. So no table is joined that could be read from
-- end to end: each is looked up by key in a subquery that PostgreSQL can't merge (`offset 0`) or hash (`exists`), or by an array of keys.
create function answers_start(p_asks json, p_users uuid[], p_conversations uuid[], p_files uuid[], p_wait boolean)
returns table (place integer, outcome text, generation_id uuid, retry_after_ms bigint, available bigint) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  v_users uuid[];
  v_asks json[];
  v_rounds integer[];
  v_asked json[];
  v_clock timestamptz;
  v_setting text;
begin
  -- The first word need not wait for the disk: a crash of PostgreSQL within the next flush of the log (a quarter of a
  -- second) forgets the questions together with their holds, and nothing was charged. Every end waits, and these with it.
  v_setting := set_config('synchronous_commit', 'off', true);
  -- The wallets before the conversations and the files, as everybody takes them. From then on nothing changes that is judged below.
  if p_wait then
    perform from wallets w where w.billing_account_id = any (array(select payer_of(asker) from unnest(p_users) asker)) order by w.id for update;
    v_users := p_users;
  else
    v_setting := set_config('lock_timeout', '50ms', true);
    with free as materialized (
      select w.billing_account_id as payer from wallets w
        where w.billing_account_id = any (array(select payer_of(asker) from unnest(p_users) asker)) order by w.id for update skip locked
    )
    select array_agg(asker) into v_users from unnest(p_users) asker where payer_of(asker) in (select free.payer from free);
  end if;
  if p_conversations <> '{}' then
    perform from conversations c where c.id = any (p_conversations) and c.user_id = any (v_users) order by c.id for no key update;
  end if;
  if p_files <> '{}' then
    -- Whoever deletes one, or sends it elsewhere, waits or is first.
    perform from files f where f.id = any (p_files) and f.user_id = any (v_users) order by f.id for no key update;
  end if;
  -- Only now: the wallets may have been waited for.
  v_clock := clock_timestamp();
  -- Of several sends that one account pays for, each must see what those before it hold: the statement runs once for the first of each
  -- account, once for the second of each, and so on.
  v_asks := array(select json_array_elements(p_asks));
  v_rounds := array(select row_number() over (partition by payer_of(asker.id) order by asker.number) from unnest(p_users) with ordinality asker (id, number)
    order by asker.number);
  for v_round in 1 .. coalesce((select max(round) from unnest(v_rounds) round), 0) loop
    v_asked := array(select v_asks[number] from generate_subscripts(v_rounds, 1) number where v_rounds[number] = v_round and p_users[number] = any (v_users));
    continue when cardinality(v_asked) = 0;
    return query with ask as materialized (
      select a.*, m.payer, w.id as wallet, w.frozen_at, w.balance - w.held as unheld, (a.now at time zone 'UTC')::date as day
        from unnest(v_asked) as asked (ask)
          cross join lateral json_to_record(asked.ask) as a (place integer, id uuid, "userId" uuid, "modelId" text, "idempotencyKey" text,
            "requestHash" text, credits bigint, "priceVersion" text, kinds text[], refused boolean, "holdId" uuid, "trimmedMessages" integer,
            "requestsPerMinute" integer, "concurrentAnswers" integer, owner uuid, "leaseMs" integer, "holdMs" integer, now timestamptz,
            "conversationId" uuid, "isNew" boolean, title text, "parentId" uuid, "questionId" uuid, "answerId" uuid, prompt text,
            attachments jsonb, "attachmentTokens" integer)
          cross join lateral (select payer_of(a."userId") as payer offset 0) m
          left join lateral (
            select w.id, w.frozen_at, w.balance, w.held from wallets w where w.billing_account_id = m.payer offset 0) w on true
    ), judged as materialized (
      select ask.*, known.id as known_id, known.request_hash as known_hash, seen.*,
          case when ask."conversationId" is null or ask."isNew" then false
            when (select c.user_id from conversations c where c.id = ask."conversationId") is distinct from ask."userId" then true
            when ask.prompt is null then 'user' is distinct from (
              select m.role from messages m where m.conversation_id = ask."conversationId" and m.id = ask."questionId")
            else ask."parentId" is not null and 'assistant' is distinct from (
              select m.role from messages m where m.conversation_id = ask."conversationId" and m.id = ask."parentId") end
          or ask.attachments is not null and not attachments_are_there(ask.attachments, ask."userId", ask."conversationId") as missing
        from ask
          left join lateral (select k.generation_id as id, (select g.request_hash from generations g where g.id = k.generation_id) as request_hash
            from generation_keys k where k.user_id = ask."userId" and k.key = ask."idempotencyKey" offset 0) known on true
          cross join lateral (
            select greatest(account.members, 1) as members,
              (select count(*) from generations g where g.user_id = ask."userId" and g.asked_at > v_clock - interval '1 minute')
                + (select count(*) from refused_sends r, unnest(r.refused_at) refused (at)
                  where r.user_id = ask."userId" and refused.at > v_clock - interval '1 minute') as own_sent,
              (select count(*) from generations g where g.payer_id = ask.payer and g.asked_at > v_clock - interval '1 minute')
                + account.refused as sent,
              (select count(*) from generations g
                where g.user_id = ask."userId" and g.status = 'streaming' and g.lease_expires_at > v_clock) as own_running,
              (select count(*) from generations g
                where g.payer_id = ask.payer and g.status = 'streaming' and g.lease_expires_at > v_clock) as running,
              case when ask."holdId" is null then (select coalesce(sum(g.remaining - g.held), 0) from grants g where g.wallet_id = ask.wallet and g.open
                  and g.remaining > g.held and g.kind = any (ask.kinds) and g.expired_at is null and g.expires_at > ask.now)
                else hold_unasked(ask."holdId", ask.wallet) end as free,
              l.daily_cap_credits as cap, case when l.day >= ask.day then l.day_credits else 0 end as used
            from (select count(*) as members,
                  coalesce(sum((select count(*) from refused_sends r, unnest(r.refused_at) refused (at)
                    where r.user_id = m.user_id and refused.at > v_clock - interval '1 minute')), 0) as refused
                from billing_account_members m where m.billing_account_id = ask.payer) account
              left join spending_limits l on l.user_id = ask."userId" and l.daily_cap_credits is not null
          ) seen
    ), decided as materialized (
      select judged.*, purse.available, case
          when known_id is not null then case when known_hash = decode("requestHash", 'hex') then 'known' else 'conflict' end
          when own_sent >= "requestsPerMinute" or sent >= "requestsPerMinute" * members then 'rate_limited'
          when judged.refused then 'refused'
          when missing then 'no_conversation'
          when wallet is null then 'no_wallet'
          when frozen_at is not null then 'wallet_frozen'
          when own_running >= "concurrentAnswers" or running >= "concurrentAnswers" * members then 'too_many_answers'
          when purse.available < credits then 'insufficient_credits'
          when used + credits > cap then 'daily_cap_reached'
          else 'created' end as outcome
        from judged cross join lateral (select case when "holdId" is not null then free when frozen_at is not null then 0
          else coalesce(greatest(least(unheld, free), 0), 0) end::bigint as available) purse
    ), held as materialized (
      select ledger_hold_many(array_agg(d.id), array_agg(d.wallet), array_agg(d.credits), array_agg(d.kinds::text), array_agg(d.now),
          array_agg(v_clock + d."holdMs" * interval '1 millisecond'), v_clock)
        from decided d where d.outcome = 'created' and d."holdId" is null having count(*) > 0
    ), started as (
      insert into generations (id, user_id, payer_id, model_id, idempotency_key, request_hash, hold_id, quoted_credits, price_version,
          trimmed_messages, lease_owner, lease_expires_at, created_at, asked_at)
        select d.id, d."userId", d.payer, d."modelId", d."idempotencyKey", decode(d."requestHash", 'hex'), coalesce(d."holdId", d.id), d.credits,
            d."priceVersion", d."trimmedMessages", d.owner, v_clock + d."leaseMs" * interval '1 millisecond', d.now, v_clock
          from decided d left join held on true where d.outcome = 'created'
    ), keyed as (
      insert into generation_keys (user_id, key, generation_id, created_at)
        select d."userId", d."idempotencyKey", d.id, v_clock from decided d where d.outcome = 'created'
    ), opened as (
      insert into conversations as known (id, user_id, title, created_at, updated_at, head_id)
        select d."conversationId", d."userId", d.title, d.now, d.now, d."answerId" from decided d where d.outcome = 'created' and d."isNew"
        on conflict (id) do update set head_id = excluded.head_id, updated_at = greatest(known.updated_at, excluded.updated_at)
    ), continued as (
      update conversations c set head_id = d."answerId", updated_at = greatest(c.updated_at, d.now)
        from decided d where c.id = any (p_conversations) and d.outcome = 'created' and not d."isNew" and c.id = d."conversationId"
    ), said as (
      insert into messages (id, conversation_id, parent_id, role, content, generation_id, created_at, attachments, attachment_tokens)
        select d."questionId", d."conversationId", d."parentId", 'user', d.prompt, null, d.now, d.attachments, coalesce(d."attachmentTokens", 0)
            from decided d where d.outcome = 'created' and d.prompt is not null
          union all
          select d."answerId", d."conversationId", d."questionId", 'assistant', null, d.id, d.now, null, 0
            from decided d where d.outcome = 'created' and d."conversationId" is not null
    ), refused as materialized (
      select sends_refuse(array_agg(d."userId"), v_clock) from decided d
        where d.outcome not in ('created', 'known', 'conflict', 'rate_limited') having count(*) > 0
    ), capped as materialized (
      select spending_count(array_agg(d."userId"), array_agg(d.day), array_agg(d.used + d.credits)) from decided d
        where d.outcome = 'created' and d.cap is not null having count(*) > 0
    )
    select d.place, d.outcome, case when d.outcome = 'created' then d.id else d.known_id end,
        case when d.outcome = 'rate_limited' then send_retry_after_ms(d."userId", d.payer, d.members, d."requestsPerMinute", v_clock) end,
        d.available
      from decided d left join refused on true left join capped on true;
    if p_files <> '{}' then perform attachments_place(v_asked); end if;
  end loop;
end $$;
