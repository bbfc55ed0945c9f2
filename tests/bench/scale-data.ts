/** Fills a database with people who asked four questions each, by statements over whole tables, as the product would have written them. */
import { createHash } from "node:crypto";
import pg from "pg";
import { dayMs } from "#domain/clock.ts";
import type { ScalePerson } from "./scale-acts.ts";

/** Entries of each person: two of the grant, two of each capture. */
export const entriesPerPerson = 10;
const answers = 4;

/**
 * A UUIDv7 of something that happened to person n: of the kind named, `days` ago, spread over the `spread` days after that in the order of
 * the people, so that indexes are filled in their order.
 */
const idFunction =
  () => `create function pg_temp.id_of(kind integer, days integer, n bigint, people bigint, spread integer default 50) returns uuid language sql immutable as $$
  select (lpad(to_hex(${Date.now()} - days * ${dayMs}::bigint + n * spread * ${dayMs} / people), 12, '0')
    || '7' || lpad(to_hex(kind), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid $$`;

const userId = "pg_temp.id_of(1, 400, n, $1)";
const accountId = "pg_temp.id_of(2, 400, n, $1)";
const walletId = "pg_temp.id_of(3, 400, n, $1)";
const checkoutId = "pg_temp.id_of(6, 60, n, $1)";
const grantId = "pg_temp.id_of(4, 350, n, $1)";
const conversationId = "pg_temp.id_of(5, 300, n, $1)";
/** The id of person n's answer number a, which began `ago` days ago. */
const generationId = "pg_temp.id_of(16 + a, 361 - 90 * a, n, $1, 90)";
const captureId = "pg_temp.id_of(32 + a, 361 - 90 * a, n, $1, 90)";
const questionId = "pg_temp.id_of(48 + a, 361 - 90 * a, n, $1, 90)";
const answerId = "pg_temp.id_of(64 + a, 361 - 90 * a, n, $1, 90)";
/** Most answers are of the same model; the last answer of every fourth person is of another one. */
const modelId = `case when a < ${answers - 1} or n % 4 > 0 then 'gpt-5-mini' else (array['gpt-6-luna', 'claude-haiku-5-5', 'gpt-5'])[1 + n / 4 % 3] end`;
const people = "generate_series(1, $1::bigint) n";
/** When person n last paid: in the order of the people, the last 30 days before the data were made. */
const paidAt = "now() - (30 - 30.0 * n / $1) * interval '1 day'";
/** So far ahead that nothing becomes due while the data are kept. */
const farAhead = "now() + (3650 + 30.0 * n / $1) * interval '1 day'";
/** The four quarters of the year before yesterday. */
const askedAt = "now() - (361 - 90 * a - 90.0 * n / $1) * interval '1 day'";
const joinedAt = "now() - (400 - 30.0 * n / $1) * interval '1 day'";
/** What is in the audit log of person n: when they joined, and one sign-in. */
const signIns = `generate_series(0, 1) a, ${people}`;
const auditPersonId = "pg_temp.id_of(80, 400, n, $1)";
const auditEventId = "pg_temp.id_of(81 + a, 361 - 90 * a, n, $1, 90)";
const turns = `generate_series(0, ${answers - 1}) a, ${people}`;

/** By table: the columns and where they come from. $1 is the number of people. */
const fillings: readonly (readonly [table: string, columns: string, rows: string])[] = [
  ["users", "id, name, created_at", `select ${userId}, 'Person ' || n, ${joinedAt} from ${people}`],
  [
    "identities",
    "user_id, kind, subject, verified_at, created_at",
    `select ${userId}, 'email', 'person-' || n || '@bench.example', now(), now() from ${people}`,
  ],
  [
    "billing_accounts",
    "id, stripe_customer_id, invoices_read_at, created_at",
    `select ${accountId}, 'cus_' || n, now(), now() from ${people}`,
  ],
  [
    "billing_account_members",
    "user_id, billing_account_id, role, created_at",
    `select ${userId}, ${accountId}, 'owner', now() from ${people}`,
  ],
  [
    "user_subscriptions",
    "user_id, plan_key, billing_interval, status, stripe_subscription_id, current_period_start, current_period_end, started_at, updated_at",
    `select ${userId}, 'enterprise', case when n % 10 = 0 then 'year' else 'month' end, 'active', 'sub_' || n, ${paidAt}, ${farAhead}, now(), now()
       from ${people}`,
  ],
  [
    "subscription_changes",
    "billing_account_id, stripe_subscription_id, plan_key, billing_interval, status, cancel_at_period_end, current_period_start, current_period_end, valid_from, recorded_at",
    `select ${accountId}, 'sub_' || n, 'enterprise', 'month', 'active', false, ${paidAt}, ${farAhead}, ${paidAt}, now() from ${people}`,
  ],
  ["trials", "user_id, started_at, ends_at", `select ${userId}, now() - interval '400 days', now() - interval '393 days' from ${people}`],
  ["spending_limits", "user_id, ask_above_credits", `select ${userId}, 10 from ${people} where n % 20 = 3`],
  [
    "checkouts",
    "id, user_id, price_id, stripe_session_id, status, expires_at, created_at",
    `select ${checkoutId}, ${userId}, 'enterprise_month', 'cs_' || n, 'completed', ${paidAt}, ${paidAt} from ${people}`,
  ],
  [
    "orders",
    "id, billing_account_id, price_id, amount_cents, later_cents, currency, credits, language, terms, withdrawal, consented_at, stripe_session_id, contract_id, concluded_at",
    `select ${checkoutId}, ${accountId}, 'enterprise_month', case when n % 50 = 6 then 7999 else 9999 end, 9999, 'usd', 1250, 'en', '1', '1', ${paidAt},
       'cs_' || n, 'sub_' || n, ${paidAt} from ${people}`,
  ],
  [
    "paid_invoices",
    "id, billing_account_id, stripe_subscription_id, stripe_customer_id, amount_paid_cents, billing_reason, paid_at, recorded_at",
    `select 'in_' || n, ${accountId}, 'sub_' || n, 'cus_' || n, 9999, 'subscription_create', ${paidAt}, now() from ${people}`,
  ],
  [
    "paid_invoice_lines",
    "invoice_id, id, plan_key, billing_interval, proration, amount_cents, period_start, period_end",
    `select 'in_' || n, 'il', 'enterprise', 'month', false, 9999, ${paidAt}, ${farAhead} from ${people}`,
  ],
  [
    "invoices",
    `id, billing_account_id, number, stripe_subscription_id, plan_key, billing_interval, period_start, period_end, total_cents, unpaid_cents,
     refunded_cents, status, failed, needs_action, issued_at, updated_at`,
    `select 'in_' || n, ${accountId}, 'T00-' || lpad(n::text, greatest(3, length(n::text)), '0'), 'sub_' || n, 'enterprise', 'month', ${paidAt}, ${farAhead}, 9999, 0, 0, 'paid', false, false, ${paidAt}, now()
       from ${people}`,
  ],
  [
    "scheduled_grants",
    "key, billing_account_id, credits, due_at, expires_at, invoice_id, invoice_line_id, charge_id",
    `select 'month:in_' || n || ':il:1', ${accountId}, 1250, ${farAhead}, ${farAhead} + interval '1 month', 'in_' || n, 'il', 'ch_' || n
       from ${people} where n % 10 = 0`,
  ],
  [
    "charge_returns",
    "charge_id, billing_account_id, paid_cents, refunded_cents, lost_cents, disputed, version, recorded_at",
    `select 'ch_' || n, ${accountId}, 9999, 100, 0, false, 1, now() from ${people} where n % 50 = 2`,
  ],
  [
    "money_backs",
    "billing_account_id, invoice_id, charge_id, amount_cents, asked_at, done_at",
    `select ${accountId}, 'in_' || n, 'ch_' || n, 100, ${paidAt}, ${paidAt} from ${people} where n % 50 = 2`,
  ],
  [
    "bank_transfers",
    "reference, billing_account_id, invoice_id, stripe_subscription_id, amount_cents, currency, reason, recorded_at",
    `select 'transfer ' || n, ${accountId}, 'in_' || n, 'sub_' || n, 9999, 'usd', 'The bank says so.', now() from ${people} where n % 50 = 4`,
  ],
  [
    "findings",
    "kind, subject, billing_account_id, details, first_seen_at, last_seen_at, resolved_at, resolved_by",
    `select 'lost_event', 'evt_' || n || '_1', ${accountId}, '{}', ${paidAt}, ${paidAt}, ${paidAt}, 'hourly' from ${people} where n % 20 = 5`,
  ],
  [
    "stripe_events",
    "id, type, livemode, object_id, created_at, payload, received_at, status, processed_at",
    `select 'evt_' || n || '_' || a, 'invoice.paid', false, 'in_' || n, ${paidAt}, '{}', ${paidAt}, 'processed', ${paidAt} from ${people}, generate_series(1, 3) a`,
  ],
  [
    "discount_campaigns",
    "percent, starts_at, ends_at, created_at",
    "select 20, now() - interval '31 days', now() - interval '1 minute', now() - interval '31 days'",
  ],
  ["stripe_objects", "id, version", `select 'sub_' || n, 3 from ${people}`],
  [
    "mails",
    "key, user_id, recipient, template, language, parameters, created_at, sent_at",
    `select 'plan:' || n, ${userId}, 'person-' || n || '@bench.example', 'subscription-started', 'en', '{}', ${paidAt}, ${paidAt} from ${people}`,
  ],
  [
    "wallets",
    "id, billing_account_id, balance, created_at",
    `select ${walletId}, ${accountId}, ${1_000_000 - answers}, now() from ${people}`,
  ],
  [
    "grants",
    "id, wallet_id, kind, credits, remaining, expires_at, source_key, invoice_id, invoice_line_id, charge_id, alert_percent, created_at",
    `select ${grantId}, ${walletId}, 'plan', 1000000, ${1_000_000 - answers}, ${farAhead}, 'grant:in_' || n || ':il', 'in_' || n, 'il', 'ch_' || n, 80, ${paidAt}
       from ${people}`,
  ],
  ["ledger_keys", "key, transaction_id", `select 'grant:in_' || n || ':il', ${grantId} from ${people}`],
  ["ledger_keys", "key, transaction_id", `select 'capture:' || ${generationId}, ${captureId} from ${turns}`],
  [
    "ledger_transactions",
    "id, key, kind, wallet_id, content, occurred_at, recorded_at",
    `select ${grantId}, 'grant:in_' || n || ':il', 'grant', ${walletId}, '{"kind": "plan", "credits": 1000000}', now(), now() from ${people}`,
  ],
  [
    "ledger_transactions",
    "id, key, kind, wallet_id, content, occurred_at, recorded_at",
    `select ${captureId}, 'capture:' || ${generationId}, 'capture', ${walletId}, jsonb_build_object('hold', ${generationId}, 'credits', 1), now(), now() from ${turns}`,
  ],
  [
    "ledger_entries",
    "transaction_id, line, account, wallet_id, grant_id, amount",
    `select ${grantId}, line, case line when 1 then 'wallet' else 'issued' end, ${walletId}, ${grantId}, case line when 1 then 1000000 else -1000000 end
       from ${people}, generate_series(1, 2) line`,
  ],
  [
    "ledger_entries",
    "transaction_id, line, account, wallet_id, grant_id, amount",
    `select ${captureId}, line, case line when 1 then 'wallet' else 'spent' end, ${walletId}, ${grantId}, 2 * line - 3 from ${turns}, generate_series(1, 2) line`,
  ],
  [
    "holds",
    "id, wallet_id, amount, settled, captured, state, deadline, created_at, ended_at",
    `select ${generationId}, ${walletId}, 1, 1, 1, 'captured', now(), now(), now() from ${turns}`,
  ],
  ["hold_parts", "hold_id, grant_id, amount, settled", `select ${generationId}, ${grantId}, 1, 1 from ${turns}`],
  [
    "generations",
    `id, user_id, payer_id, model_id, idempotency_key, request_hash, status, hold_id, quoted_credits, charged_credits, capture_id, lease_owner,
     lease_expires_at, created_at, asked_at, ended_at, first_text_ms, cost_micro_dollars, prompt_tokens, completion_tokens`,
    `select ${generationId}, ${userId}, ${accountId}, ${modelId}, 'key-of-' || n || '-' || a, sha256(n::text::bytea), 'completed', ${generationId}, 1, 1,
       ${captureId}, ${userId}, now(), ${askedAt}, ${askedAt}, ${askedAt}, 200 + (n * 37 + a * 11) % 4000, 90 + n % 900, 20 + n % 400, 60 + n % 900 from ${turns}`,
  ],
  [
    "usage_days",
    "billing_account_id, day, model_id, answers, credits",
    `select ${accountId}, ((${askedAt}) at time zone 'UTC')::date, ${modelId}, 1, 1 from ${turns}`,
  ],
  [
    "model_accounts",
    "model_id, billing_account_id, last_day, told",
    `select ${modelId}, ${accountId}, max(((${askedAt}) at time zone 'UTC')::date), n % 1000 <> 195 from ${turns} group by n, 1`,
  ],
  ["generation_parts", "generation_id, place, kind, text", `select ${generationId}, 1, 'text', 'A small piece of a mosaic.' from ${turns}`],
  [
    "conversations",
    "id, user_id, title, created_at, updated_at",
    `select ${conversationId}, ${userId}, 'What is a tessera?', now(), now() from ${people}`,
  ],
  [
    "messages",
    "id, conversation_id, parent_id, role, content, created_at",
    `select ${questionId}, ${conversationId}, case when a > 0 then pg_temp.id_of(63 + a, 451 - 90 * a, n, $1, 90) end, 'user', 'What is a tessera?', now() from ${turns}`,
  ],
  [
    "messages",
    "id, conversation_id, parent_id, role, generation_id, created_at",
    `select ${answerId}, ${conversationId}, ${questionId}, 'assistant', ${generationId}, now() from ${turns}`,
  ],
  ["audit_people", "id, user_id", `select ${auditPersonId}, ${userId} from ${people}`],
  [
    "audit_events",
    "id, at, actor, subject, action, details",
    `select ${auditEventId}, ${askedAt}, ${auditPersonId}, ${auditPersonId}, case a when 0 then 'sign_up.confirmed' else 'sign_in.completed' end,
       case a when 0 then '{}'::jsonb else '{"factor": "password"}' end from ${signIns}`,
  ],
  ["audit_origins", "event_id, user_id, network", `select ${auditEventId}, ${userId}, '192.0.2.0/24' from ${signIns}`],
  [
    "contact_messages",
    "id, idempotency_key, content_hash, user_id, name, email, category, message, language, created_at, status",
    `select id, id, sha256(id::text::bytea), ${userId}, 'Person ' || n, 'person-' || n || '@bench.example', (array['bug', 'feature', 'feedback', 'support'])[1 + n / 20 % 4],
       'Where did my credits go?', (array['en', 'de', 'ja'])[1 + n / 20 % 3], ${paidAt}, 'done' from ${people}, lateral (select pg_temp.id_of(83, 50, n, $1) as id) made where n % 20 = 6`,
  ],
  [
    "dead_letters",
    "id, job, payload, error, attempts, failed_at, replayed_at",
    `select pg_temp.id_of(84, 50, n, $1), 'process-event', '{}', 'Stripe could not be reached', 5, ${paidAt}, ${paidAt} from ${people} where n % 100 = 7`,
  ],
];

/** Names what a database is filled with. */
export const fillingsVersion = createHash("sha256").update(JSON.stringify(fillings)).digest("hex").slice(0, 8);

/** In one transaction, so that an interruption leaves an empty database. Triggers and foreign keys are off; the books are checked later. */
export async function fill(superuserUrl: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    await client.query("begin");
    await client.query("set local session_replication_role = replica");
    await client.query("set local maintenance_work_mem = '1GB'");
    await client.query(idFunction());
    const tables = [...new Set(fillings.map(([table]) => table))];
    // Dropped here and created again afterwards, which is much faster. Indexes of keys stay, because the rows come in their order.
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
         where indrelid = any ($1::regclass[]) and not exists (select from pg_constraint where conindid = indexrelid)`,
      [tables],
    );
    for (const { name } of indexes) await client.query(`drop index ${name}`);
    for (const [table, columns, rows] of fillings)
      await client.query(`insert into ${table} (${columns}) ${rows.replaceAll("$1", String(count))}`);
    for (const { definition } of indexes) await client.query(definition);
    // A business event of long ago: the hourly check has been there.
    await client.query(
      "update ledger_checks set reached = (select id from ledger_transactions order by id desc limit 1) where name = 'recent'",
    );
    await client.query("commit");
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
}

/** Settles what an earlier run of the bench left to a worker. */
export async function tidyUp(superuserUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    await client.query("update stripe_events set status = 'ignored' where status = 'received'");
    await client.query("truncate outbox");
    await client.query("vacuum analyze stripe_events");
  } finally {
    await client.end();
  }
}

/** People of the database, evenly spread over it, with what pays for them. */
export async function pickPeople(url: string, count: number, picked: number): Promise<ScalePerson[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<ScalePerson>(
      `select m.user_id as "userId", m.billing_account_id as "payerId", w.id as "walletId", i.subject as email, 'cus_' || n as "customerId",
           'sub_' || n as "subscriptionId"
         from generate_series(1::bigint, $1::bigint, greatest($1::bigint / $2::bigint, 1::bigint)) n
         join identities i on i.kind = 'email' and i.subject = 'person-' || n || '@bench.example'
         join billing_account_members m on m.user_id = i.user_id join wallets w on w.billing_account_id = m.billing_account_id`,
      [count, picked],
    );
    return rows;
  } finally {
    await client.end();
  }
}
