create or replace function usage_count(p_payer uuid, p_model text, p_credits bigint, p_now timestamptz) returns void language sql security definer
set search_path = public, pg_temp as $$
  insert into usage_days as known (billing_account_id, day, model_id, answers, credits)
    values (p_payer, (p_now at time zone 'UTC')::date, p_model, 1, p_credits)
    on conflict (billing_account_id, day, model_id) do update set answers = known.answers + 1, credits = known.credits + excluded.credits
$$;
drop table model_accounts;
