-- The end of answers, for all that end together: each table is written by one statement for all of them (decision 117). `answer_end` says the
-- same for one; the release before this one calls it.

-- Settles shares of several holds, all or none. Most often one grant holds the whole amount and the share is all of it: one statement settles all
-- of those. `ledger_settle` settles the others one by one. Returns a row for each share: its place among the arguments, from 1, the hold's state,
-- what was captured, and the id of that transaction. Raises what `ledger_settle` raises.
create function ledger_settle_many(
  p_holds uuid[], p_shares bigint[], p_captured bigint[], p_keys text[], p_now timestamptz[], p_ended_at timestamptz
) returns table (settled_place bigint, settled_state text, settled_credits bigint, settled_capture uuid) language plpgsql security definer
set search_path = public, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  share record;
  v_watched uuid[] := '{}';
  v_spent bigint[] := '{}';
begin
  -- Before their holds and grants are read, because a wallet may have to be waited for.
  perform from wallets w where w.id = any (array(select (select h.wallet_id from holds h where h.id = hold) from unnest(p_holds) hold))
    order by w.id for update;
  for share in
    with ask as materialized (
      select a.*, h.wallet_id, g.id as grant_id, g.watched, case when g.id is not null and a.captured > 0 then uuidv7() end as capture
        from unnest(p_holds, p_shares, p_captured, p_keys, p_now) with ordinality a (hold, share, captured, key, now, place)
          left join lateral (
            select h.wallet_id, h.state = 'open' and h.settled = 0 and h.amount = a.share and a.captured between 0 and a.share as whole
              from holds h where h.id = a.hold offset 0) h on true
          left join lateral (select p.grant_id from hold_parts p where p.hold_id = a.hold and p.amount = a.share offset 0) p on h.whole
          left join lateral (
            select g.id, g.alert_percent is not null and not g.alert_told as watched from grants g
              where g.id = p.grant_id and g.expired_at is null
                and (select count(*) from grants d where d.wallet_id = h.wallet_id and d.open and d.remaining < d.held) = 0 offset 0) g on true
    ), whole as materialized (
      select * from ask where ask.grant_id is not null
    ), hold as (
      update holds h set settled = whole.share, captured = whole.captured, ended_at = p_ended_at,
          state = case when whole.captured > 0 then 'captured' else 'released' end
        from whole where h.id = any (array(select whole.hold from whole)) and h.id = whole.hold
    ), wallet as (
      update wallets w set held = w.held - paid.share, balance = w.balance - paid.captured
        from (select whole.wallet_id, sum(whole.share) as share, sum(whole.captured) as captured from whole group by 1) paid
        where w.id = any (array(select whole.wallet_id from whole)) and w.id = paid.wallet_id
    ), paying as (
      update grants g set held = g.held - paid.share, remaining = g.remaining - paid.captured
        from (select whole.grant_id, sum(whole.share) as share, sum(whole.captured) as captured from whole group by 1) paid
        where g.id = any (array(select whole.grant_id from whole)) and g.id = paid.grant_id
    ), keyed as (
      insert into ledger_keys (key, transaction_id) select whole.key, whole.capture from whole where whole.capture is not null
        on conflict (key) do nothing returning transaction_id
    ), opened as (
      insert into ledger_transactions (id, key, kind, wallet_id, content, occurred_at)
        select whole.capture, whole.key, 'capture', whole.wallet_id, jsonb_build_object('hold', whole.hold, 'credits', whole.captured), whole.now
          from whole where whole.capture is not null
    ), entered as (
      insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount)
        select whole.capture, entry.line, entry.account, whole.wallet_id, whole.grant_id, entry.sign * whole.captured
          from whole cross join (values (1::smallint, 'wallet', -1), (2::smallint, 'spent', 1)) entry (line, account, sign)
          where whole.capture is not null
    )
    select ask.*, keyed.transaction_id is null and ask.capture is not null as posted_before
      from ask left join keyed on keyed.transaction_id = ask.capture
  loop
    settled_place := share.place;
    if share.grant_id is null then
      select s.state, s.captured into settled_state, settled_credits
        from ledger_settle(share.hold, share.share, share.captured, share.key, share.now, p_ended_at) s;
      settled_capture := (select k.transaction_id from ledger_keys k where k.key = share.key and settled_credits > 0);
    elsif share.posted_before then
      raise exception 'ledger key % was posted before', share.key using errcode = 'TS409';
    else
      settled_state := case when share.captured > 0 then 'captured' else 'released' end;
      settled_credits := share.captured;
      settled_capture := share.capture;
      if share.watched and share.captured > 0 then
        v_watched := v_watched || share.grant_id;
        v_spent := v_spent || share.captured;
      end if;
    end if;
    return next;
  end loop;
  if v_watched <> '{}' then
    perform grant_spent(g, (select sum(spent.credits)::bigint from unnest(v_watched, v_spent) spent (id, credits) where spent.id = g.id))
      from grants g where g.id = any (v_watched);
  end if;
end $$;

-- `usage_count` for several answers.
create function usage_count_many(p_payers uuid[], p_models text[], p_credits bigint[], p_now timestamptz[]) returns void language plpgsql security definer
set search_path = public, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
begin
  with counted as (
    insert into usage_days as known (billing_account_id, day, model_id, answers, credits)
      select a.payer, (a.now at time zone 'UTC')::date, a.model, count(*), sum(a.credits) from unnest(p_payers, p_models, p_credits, p_now) a (payer, model, credits, now)
        group by 1, 2, 3
      on conflict (billing_account_id, day, model_id) do update set answers = known.answers + excluded.answers, credits = known.credits + excluded.credits
      returning billing_account_id, model_id, day, old.day is null as is_first)
  insert into model_accounts as known (model_id, billing_account_id, last_day)
    select c.model_id, c.billing_account_id, max(c.day) from counted c where c.is_first group by 1, 2
    on conflict (model_id, billing_account_id) do update set last_day = greatest(known.last_day, excluded.last_day);
end $$;

-- Held credits that are not charged no longer count towards the daily cap of the day of the request.
create function spending_return(p_users uuid[], p_days date[], p_credits bigint[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
begin
  update spending_limits l set day_credits = greatest(l.day_credits - (
      select coalesce(sum(back.credits), 0) from unnest(p_users, p_days, p_credits) back (asker, day, credits) where back.asker = l.user_id and back.day = l.day), 0)
    where l.user_id = any (p_users) and l.day = any (p_days);
end $$;

-- Deletes the files that were made for these answers and are no part of them.
create function made_files_keep(p_answers uuid[], p_parts jsonb[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
begin
  delete from files f where f.generation_id = any (p_answers) and f.id <> all (array(
    select (part.value->'detail'->>'fileId')::uuid from unnest(p_parts) parts (list) cross join lateral jsonb_array_elements(parts.list) part (value)
      where part.value->'detail' ? 'fileId'));
end $$;

-- Ends the answers of `p_asks` (the fields of EndRow in ends.ts, its parts as they are stored). `p_ids`, `p_owners`, `p_charges` and `p_now` are the
-- fields of those names, in their order. Returns the rows, also of those that had ended before or are another process's. Without `p_wait`, answers whose
-- wallet is locked are left out, so that nobody waits for another person's lock; if an answer's row is locked, the statement fails after 50 ms.
-- Planned as `answers_start` is (0114).
create function answers_end(p_asks json, p_ids uuid[], p_owners uuid[], p_charges bigint[], p_now timestamptz[], p_wait boolean)
returns setof generations language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  v_setting text;
  v_payers uuid[];
  v_known uuid[];
  v_ready uuid[];
  v_holds uuid[];
  v_settled record;
begin
  -- The wallets before the answers, as everybody takes them.
  if p_wait then
    perform from wallets w where w.billing_account_id = any (array(select g.payer_id from generations g where g.id = any (p_ids))) order by w.id for update;
  else
    v_setting := set_config('lock_timeout', '50ms', true);
    v_payers := array(select w.billing_account_id from wallets w
      where w.billing_account_id = any (array(select g.payer_id from generations g where g.id = any (p_ids))) order by w.id for update skip locked);
  end if;
  -- Not `for update`: the log's rows refer to these, and an insert into the log must not wait here while we wait for it.
  v_known := array(select g.id from generations g where g.id = any (p_ids) and (p_wait or g.payer_id = any (v_payers)) order by g.id for no key update);
  select array_agg(g.id), array_agg(g.hold_id) into v_ready, v_holds
    from (select g.id, g.hold_id, g.status, g.lease_owner, g.lease_expires_at, p_owners[array_position(p_ids, g.id)] as owner
        from generations g where g.id = any (v_known) offset 0) g
    where g.status = 'streaming' and case when g.owner is null then g.lease_expires_at < clock_timestamp() else g.lease_owner = g.owner end;
  if v_ready is not null then
    select array_agg(s.settled_state order by s.settled_place) as states, array_agg(s.settled_credits order by s.settled_place) as credits,
        array_agg(s.settled_capture order by s.settled_place) as captures into v_settled
      from ledger_settle_many(v_holds, array(select (select g.quoted_credits from generations g where g.id = ready) from unnest(v_ready) ready),
        array(select p_charges[array_position(p_ids, ready)] from unnest(v_ready) ready),
        array(select 'capture:' || ready from unnest(v_ready) ready),
        array(select p_now[array_position(p_ids, ready)] from unnest(v_ready) ready), clock_timestamp()) s;
    if 'open' = any (v_settled.states) then
      -- The last of several answers that share a hold lets go of what none of them was asked for.
      perform ledger_end_hold(shared.id, 0, 'capture:' || shared.id, p_now[1], clock_timestamp())
        from (select distinct hold.id from unnest(v_holds, v_settled.states) hold (id, state) where hold.state = 'open' offset 0) shared
        where not exists (select from generations g where g.hold_id = shared.id and g.status = 'streaming' and g.id <> all (v_ready));
    end if;
    return query with told as materialized (
      select a.*, g.*, v_settled.credits[a.place] as captured, v_settled.captures[a.place] as capture
        from (select a.*, array_position(v_ready, a.id) as place from json_to_recordset(p_asks) as a (id uuid, status text, "failureCode" text, "cutShort" boolean,
            parts jsonb, "promptTokens" integer, "completionTokens" integer, "costMicroDollars" bigint, "firstEvent" integer, "lastEvent" integer, frames text,
            kinds text[], now timestamptz, "firstTextMs" integer, "filterReason" text, searches integer, "thinkingTokens" integer)
          where a.id = any (v_ready) offset 0) a
        cross join lateral (
          select g.user_id, g.payer_id, g.model_id, g.quoted_credits, g.created_at, g.erased_at is not null as erased, g.options is not null as has_files
            from generations g where g.id = a.id offset 0) g
    ), counted as materialized (
      select usage_count_many(array_agg(t.payer_id), array_agg(t.model_id), array_agg(t.captured), array_agg(t.now)) from told t
        where t.captured > 0 having count(*) > 0
    ), returned as materialized (
      select spending_return(array_agg(t.user_id), array_agg((t.created_at at time zone 'UTC')::date), array_agg(t.quoted_credits - t.captured)) from told t
        where t.captured < t.quoted_credits having count(*) > 0
    ), kept as materialized (
      select made_files_keep(array_agg(t.id), array_agg(t.parts)) from told t where t.has_files having count(*) > 0
    ), logged as (
      insert into generation_events as known (generation_id, first_event, last_event, frames)
        select t.id, t."firstEvent", t."lastEvent", t.frames from told t where t."firstEvent" is not null
        on conflict (generation_id, first_event) do update set last_event = excluded.last_event, frames = excluded.frames
        where known.last_event < excluded.last_event
    ), stored as (
      insert into generation_parts (generation_id, place, kind, text, detail)
        select t.id, part.place, part.value->>'kind', part.value->>'text', part.value->'detail'
          from told t cross join lateral jsonb_array_elements(t.parts) with ordinality as part (value, place) where not t.erased
    )
    update generations g set status = t.status, failure_code = t."failureCode", cut_short = t."cutShort", charged_credits = t.captured,
        available_after = ledger_available(g.user_id, t.kinds, t.now), prompt_tokens = t."promptTokens", completion_tokens = t."completionTokens",
        cost_micro_dollars = t."costMicroDollars", ended_at = t.now, first_text_ms = t."firstTextMs", searches = t.searches,
        thinking_tokens = t."thinkingTokens", filter_reason = case when not t.erased then t."filterReason" end, capture_id = t.capture
      from told t left join counted on true left join returned on true left join kept on true
      where g.id = any (v_ready) and g.id = t.id returning g.*;
  end if;
  if cardinality(v_known) > coalesce(cardinality(v_ready), 0) then
    return query select g.* from generations g where g.id = any (v_known) and g.id <> all (coalesce(v_ready, '{}'));
  end if;
end $$;
