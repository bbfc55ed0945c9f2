-- The data of a product that runs the release whose newest migration is 0011_contact, written with that release's own functions.
-- tests/server/migrations-release.test.ts adds passwords, tokens and links, which need the secret key.

-- ada: a monthly plan. bert: an annual plan, not paid in time, with a debt. cora: a plan that has ended, and a trial.
-- dora: signed up and has not confirmed. emil: deleted by hand; their books are left.
insert into users (id, email, mailbox_key, email_verified_at, role, language, stripe_customer_id, created_at, last_sign_in_at) values
  ('00000000-0000-7000-8000-00000000000a', 'ada@example.com', 'ada@example.com', now() - interval '40 days', 'admin', 'de', 'cus_ada', now() - interval '40 days', now() - interval '1 hour'),
  ('00000000-0000-7000-8000-00000000000b', 'bert+work@example.com', 'bert@example.com', now() - interval '70 days', 'user', 'en', 'cus_bert', now() - interval '70 days', null),
  ('00000000-0000-7000-8000-00000000000c', 'c.ora@gmail.com', 'cora@gmail.com', now() - interval '90 days', 'user', 'ja', 'cus_cora', now() - interval '90 days', null),
  ('00000000-0000-7000-8000-00000000000d', 'dora@example.com', 'dora@example.com', null, 'user', 'pl', null, now() - interval '1 hour', null),
  ('00000000-0000-7000-8000-00000000000e', 'emil@example.com', 'emil@example.com', now() - interval '50 days', 'user', 'fr', 'cus_emil', now() - interval '50 days', null);
insert into auth_attempts (key, failures, window_started_at) values ('email:ada@example.com', 2, now());

insert into wallets (id, user_id, created_at)
  select ('10000000' || substr(id::text, 9))::uuid, id, created_at from users where email_verified_at is not null;

create function pg_temp.person(p_name text) returns uuid language sql as $$ select id from users where email like p_name || '%' $$;
create function pg_temp.wallet(p_name text) returns uuid language sql as $$ select id from wallets where user_id = pg_temp.person(p_name) $$;
create function pg_temp.grant_to(p_name text, p_kind text, p_credits bigint, p_expires interval, p_key text) returns void language sql as $$
  select ledger_post_grant(pg_temp.wallet(p_name), p_kind, p_credits, date_trunc('second', now()) + p_expires, p_key, now() - interval '20 days')
$$;

-- Plans, invoices, and the credits that they gave.
insert into user_subscriptions (user_id, plan_key, billing_interval, status, stripe_subscription_id, current_period_start, current_period_end,
    cancel_at_period_end, grace_until, started_at, ended_at, updated_at) values
  (pg_temp.person('ada'), 'starter', 'month', 'active', 'sub_ada', now() - interval '20 days', now() + interval '10 days', true, null, now() - interval '50 days', null, now()),
  (pg_temp.person('bert'), 'basic', 'year', 'past_due', 'sub_bert', now() - interval '60 days', now() + interval '305 days', false, now() + interval '3 days', now() - interval '60 days', null, now()),
  (pg_temp.person('c.ora'), 'professional', 'month', 'canceled', 'sub_cora', now() - interval '80 days', now() - interval '50 days', false, null, now() - interval '80 days', now() - interval '50 days', now());
insert into paid_invoices (id, user_id, stripe_subscription_id, stripe_customer_id, amount_paid_cents, billing_reason, paid_at, recorded_at) values
  ('in_ada_1', pg_temp.person('ada'), 'sub_ada', 'cus_ada', 1999, 'subscription_create', now() - interval '50 days', now()),
  ('in_ada_2', pg_temp.person('ada'), 'sub_ada', 'cus_ada', 1999, 'subscription_cycle', now() - interval '20 days', now()),
  ('in_bert', pg_temp.person('bert'), 'sub_bert', 'cus_bert', 29990, 'subscription_create', now() - interval '60 days', now()),
  ('in_cora', pg_temp.person('c.ora'), 'sub_cora', 'cus_cora', 4999, 'subscription_create', now() - interval '80 days', now()),
  ('in_emil', pg_temp.person('emil'), 'sub_emil', 'cus_emil', 1999, 'subscription_create', now() - interval '50 days', now());
select pg_temp.grant_to('ada', 'plan', 300, '-1 day', 'grant:in_ada_1:il_1');
select ledger_expire_grant(id, now()) from grants where source_key = 'grant:in_ada_1:il_1';
select pg_temp.grant_to('ada', 'plan', 300, '10 days', 'grant:in_ada_2:il_1');
select pg_temp.grant_to('ada', 'pack', 50, '300 days', 'pack:cs_ada');
select pg_temp.grant_to('bert', 'plan', 500, '10 days', 'month:in_bert:il_1:0');
select pg_temp.grant_to('c.ora', 'trial', 20, '7 days', 'trial:cora@gmail.com');
select pg_temp.grant_to('emil', 'plan', 300, '10 days', 'grant:in_emil:il_1');
insert into scheduled_grants (key, user_id, credits, due_at, expires_at, posted_at, cancelled_at) values
  ('month:in_bert:il_1:0', pg_temp.person('bert'), 500, now() - interval '60 days', now() + interval '10 days', now() - interval '60 days', null),
  ('month:in_bert:il_1:1', pg_temp.person('bert'), 500, now() + interval '2 days', now() + interval '30 days', null, null),
  ('month:in_bert:il_1:2', pg_temp.person('bert'), 500, now() + interval '32 days', now() + interval '60 days', null, now());
insert into checkouts (user_id, price_id, stripe_session_id, url, status, expires_at, created_at) values
  (pg_temp.person('ada'), 'starter_month', 'cs_ada', null, 'completed', now() - interval '19 days', now() - interval '20 days'),
  (pg_temp.person('c.ora'), 'basic_year', 'cs_cora', 'https://checkout.example/cs_cora', 'open', now() + interval '1 hour', now());
insert into discount_campaigns (percent, starts_at, ends_at, created_at) values (20, now() - interval '2 days', now() + interval '2 days', now());

-- Answers. The conversation of ada has several turns; in one the model said nothing, one was stopped. One of bert still runs.
create function pg_temp.ask(p_name text, p_key text, p_prompt text, p_conversation uuid, p_ago interval, p_deadline interval default '10 minutes') returns uuid
language sql as $$
  select conversation_id from answer_start(uuidv7(-p_ago), pg_temp.person(p_name), 'gpt-5-mini', p_key, sha256(convert_to(p_prompt, 'UTF8')), 3,
    '{plan,trial,pack,adjustment}', p_conversation, left(p_prompt, 200), p_prompt, 0, 1000, 1000, '20000000-0000-7000-8000-000000000000',
    clock_timestamp() + p_deadline - interval '9 minutes', clock_timestamp() + p_deadline, now() - p_ago, now() - p_ago)
$$;
create function pg_temp.finish(p_key text, p_status text, p_failure text, p_charge bigint, p_text text) returns void language plpgsql as $$
declare
  answer generations;
begin
  select * into answer from generations where idempotency_key = p_key;
  insert into generation_events values (answer.id, 1, 1, format(E'id: 1\nevent: start\ndata: %s\n\n', jsonb_build_object('generationId', answer.id,
    'conversationId', answer.conversation_id, 'modelId', answer.model_id, 'heldCredits', 3, 'trimmedMessages', 0)));
  perform answer_end(answer.id, answer.lease_owner, p_status, p_failure, p_charge, p_text, 12, 34, 2, 2,
    format(E'id: 2\nevent: delta\ndata: %s\n\n', jsonb_build_object('text', p_text)), answer.created_at + interval '5 seconds', clock_timestamp());
end $$;
create function pg_temp.conversation_of(p_key text) returns uuid language sql as $$ select conversation_id from generations where idempotency_key = p_key $$;

select pg_temp.ask('ada', 'answer-of-an-old-log', 'Good morning', null, '30 hours');
select pg_temp.finish('answer-of-an-old-log', 'completed', null, 3, 'Good morning to you.');
delete from generation_events where generation_id = (select id from generations where idempotency_key = 'answer-of-an-old-log');
select pg_temp.ask('ada', 'answer-completed', 'What is a tessera?', pg_temp.conversation_of('answer-of-an-old-log'), '3 hours');
select pg_temp.finish('answer-completed', 'completed', null, 3, 'A piece of a mosaic.');
select pg_temp.ask('ada', 'answer-failed', 'And a mosaic?', pg_temp.conversation_of('answer-completed'), '2 hours');
select pg_temp.finish('answer-failed', 'failed', 'provider_error', 0, '');
select pg_temp.ask('ada', 'answer-stopped', 'A mosaic, please', pg_temp.conversation_of('answer-completed'), '1 hour');
select pg_temp.finish('answer-stopped', 'stopped', null, 3, 'Many tesserae, laid');
select pg_temp.ask('bert', 'answer-running', 'Tell me more', null, '1 minute', '1 hour');
insert into generation_events select id, 1, 1, E'id: 1\nevent: delta\ndata: {"text": "More is"}\n\n' from generations where idempotency_key = 'answer-running';
-- Its process is gone and its hold is past the deadline.
select pg_temp.ask('ada', 'answer-orphaned', 'Is anybody there?', null, '5 minutes', '-1 second');
select pg_temp.ask('c.ora', 'answer-deleted', 'Delete this', null, '4 hours');
select pg_temp.finish('answer-deleted', 'completed', null, 3, 'Gladly.');
delete from conversations where id = pg_temp.conversation_of('answer-deleted');
select pg_temp.ask('emil', 'answer-of-emil', 'What stays of me?', null, '4 hours');
select pg_temp.finish('answer-of-emil', 'completed', null, 3, 'The books.');
-- bert spent 400 of 500 credits, and 200 were clawed back after that.
select ledger_hold('30000000-0000-7000-8000-000000000001', pg_temp.wallet('bert'), 400, '{plan}', now(), now() + interval '1 hour', now());
select ledger_end_hold('30000000-0000-7000-8000-000000000001', 400, 'capture:30000000-0000-7000-8000-000000000001', now(), now());
select ledger_claw_back(id, 200, 'refund:re_bert', now()) from grants where source_key = 'month:in_bert:il_1:0';

-- Events, mails and jobs, done and waiting.
insert into stripe_events (id, type, livemode, object_id, payload, received_at, status, processed_at) values
  ('evt_done', 'invoice.paid', false, 'in_ada_2', '{"id": "evt_done", "created": 1790000000}', now() - interval '20 days', 'processed', now()),
  ('evt_waiting', 'customer.subscription.updated', false, 'sub_ada', '{"id": "evt_waiting", "created": 1790000001}', now(), 'received', null),
  ('evt_of_no_interest', 'charge.refunded', false, 'ch_ada', '{"id": "evt_of_no_interest"}', now(), 'ignored', now()),
  ('evt_live', 'invoice.paid', true, 'in_other', '{"id": "evt_live", "created": 1790000002}', now(), 'set_aside', null);
insert into mails (id, key, user_id, recipient, template, language, parameters, created_at, sent_at) values
  ('40000000-0000-7000-8000-000000000001', 'started:sub_cora', pg_temp.person('c.ora'), 'c.ora@gmail.com', 'subscription-started', 'ja', '{"plan": "professional", "credits": 3000, "renewsAt": "2026-10-01T00:00:00Z"}', now() - interval '80 days', now() - interval '80 days'),
  ('40000000-0000-7000-8000-000000000002', 'started:sub_ada', pg_temp.person('ada'), 'ada@example.com', 'subscription-started', 'en', '{"plan": "starter", "credits": 300, "renewsAt": "2026-12-01T00:00:00Z"}', now(), null),
  ('40000000-0000-7000-8000-000000000003', 'failed:in_bert', pg_temp.person('bert'), 'bert+work@example.com', 'payment-failed', 'en', '{"plan": "basic", "graceUntil": "2026-12-01T00:00:00Z"}', now(), null),
  ('40000000-0000-7000-8000-000000000004', 'contact:1', null, 'team@tessera.example', 'contact-message', 'en', '{"name": "Ada", "email": "ada@example.com", "category": "bug", "topic": "Ada", "message": "It broke", "senderLanguage": "de"}', now(), null),
  ('40000000-0000-7000-8000-000000000005', 'contact:2', pg_temp.person('ada'), 'ada@example.com', 'contact-received', 'en', '{}', now(), null);
insert into outbox (job, payload) select 'send-mail', jsonb_build_object('mailId', id) from mails where sent_at is null;
insert into outbox (job, payload, published_at, publications, failures) values ('process-stripe-event', '{"eventId": "evt_waiting"}', now(), 2, 1);
insert into dead_letters (id, job, payload, error, attempts, replayed_at) values
  ('50000000-0000-7000-8000-000000000001', 'process-stripe-event', '{"eventId": "evt_done"}', 'broken', 10, now()),
  ('50000000-0000-7000-8000-000000000002', 'send-mail', '{"mailId": "40000000-0000-7000-8000-000000000001"}', 'refused', 1, null);
insert into schedules (name, due_at, last_run_at) values ('reconcile', now() + interval '30 minutes', now() - interval '30 minutes');
insert into contact_messages (idempotency_key, content_hash, user_id, name, email, category, subject, message, language, created_at) values
  (uuidv4(), sha256('a'), pg_temp.person('ada'), 'Ada', 'ada@example.com', 'bug', null, 'It broke', 'de', now()),
  (uuidv4(), sha256('b'), null, 'A stranger', 'stranger@example.com', 'feature', 'A wish', 'More models', 'en', now() - interval '100 days');
update business_clock set offset_ms = 3600000;

delete from users where email = 'emil@example.com';
