-- What was spent in each wallet, by day and model: sums of the receipts, kept up by the transaction that writes a receipt (decision 49).
create table usage_days (
  billing_account_id uuid not null references billing_accounts,
  -- In UTC, of business time.
  day date not null,
  model_id text not null,
  answers bigint not null check (answers > 0),
  credits bigint not null check (credits > 0),
  -- Only new rows touch the index: what changes is in no index, and there is room beside a row for its next version.
  primary key (billing_account_id, day, model_id)
) with (fillfactor = 50);

-- Counts an answer that was charged. The caller has locked the wallet, so two answers never wait for each other here.
create function usage_count(p_payer uuid, p_model text, p_credits bigint, p_now timestamptz) returns void language sql security definer
set search_path = public, pg_temp as $$
  insert into usage_days as known (billing_account_id, day, model_id, answers, credits)
    values (p_payer, (p_now at time zone 'UTC')::date, p_model, 1, p_credits)
    on conflict (billing_account_id, day, model_id) do update set answers = known.answers + 1, credits = known.credits + excluded.credits
$$;

-- Makes the sums of an account anew from its receipts. Only the owner may call it.
create function usage_rebuild(p_payer uuid) returns void language plpgsql set search_path = public, pg_temp as $$
begin
  perform from wallets where billing_account_id = p_payer for update;
  delete from usage_days where billing_account_id = p_payer;
  insert into usage_days (billing_account_id, day, model_id, answers, credits)
    select payer_id, (ended_at at time zone 'UTC')::date, model_id, count(*), sum(charged_credits)
      from generations where payer_id = p_payer and charged_credits > 0 group by 1, 2, 3;
end $$;

-- Nobody ends an answer between the sums and the end of this migration.
lock table generations in share row exclusive mode;
insert into usage_days (billing_account_id, day, model_id, answers, credits)
  select payer_id, (ended_at at time zone 'UTC')::date, model_id, count(*), sum(charged_credits)
    from generations where charged_credits > 0 group by 1, 2, 3 order by 1, 2, 3;

-- As in 0036, and counts what was charged.
create or replace function answer_end(
  p_id uuid, p_owner uuid, p_status text, p_failure text, p_cut_short boolean, p_charge bigint, p_parts jsonb, p_prompt_tokens integer, p_completion_tokens integer,
  p_cost bigint, p_first_event integer, p_last_event integer, p_frames text, p_kinds text[], p_now timestamptz
) returns setof generations language plpgsql as $$
declare
  target generations;
  share record;
begin
  -- Not `for update`: the log's rows refer to this one, and an insert into the log must not wait here while we wait for it.
  select * into target from generations g where g.id = p_id for no key update;
  if not found then return; end if;
  if target.status <> 'streaming' or (p_owner is null and target.lease_expires_at >= clock_timestamp()) or (p_owner is not null and target.lease_owner <> p_owner) then
    return next target;
    return;
  end if;
  select * into share from ledger_settle(target.hold_id, target.quoted_credits, p_charge, 'capture:' || p_id, p_now, clock_timestamp());
  if share.state = 'open' and not exists (select from generations g where g.hold_id = target.hold_id and g.id <> p_id and g.status = 'streaming') then
    perform ledger_end_hold(target.hold_id, 0, 'capture:' || target.hold_id, p_now, clock_timestamp());
  end if;
  if share.captured > 0 then
    perform usage_count(target.payer_id, target.model_id, share.captured, p_now);
  end if;
  if p_first_event is not null then
    insert into generation_events as known (generation_id, first_event, last_event, frames) values (p_id, p_first_event, p_last_event, p_frames)
      on conflict (generation_id, first_event) do update set last_event = excluded.last_event, frames = excluded.frames
      where known.last_event < excluded.last_event;
  end if;
  if target.erased_at is null then
    insert into generation_parts (generation_id, place, kind, text, detail)
      select p_id, part.place, part.value->>'kind', part.value->>'text', part.value->'detail'
        from jsonb_array_elements(p_parts) with ordinality as part (value, place);
  end if;
  return query update generations g set status = p_status, failure_code = p_failure, cut_short = p_cut_short, charged_credits = share.captured,
      available_after = ledger_available(g.user_id, p_kinds, p_now), prompt_tokens = p_prompt_tokens,
      completion_tokens = p_completion_tokens, cost_micro_dollars = p_cost, ended_at = p_now,
      capture_id = case when share.captured > 0 then (select k.transaction_id from ledger_keys k where k.key = 'capture:' || p_id) end
    where g.id = p_id returning g.*;
end $$;
