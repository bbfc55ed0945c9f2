/** Fills a database with people who asked four questions each, by statements over whole tables, as the product would have written them. */
import pg from "pg";
import { dayMs } from "#domain/clock.ts";

/** Entries of each person: two of the grant, two of each capture. */
export const entriesPerPerson = 10;
const answers = 4;

/**
 * A UUIDv7 of something that happened to person n: of the kind named, `days` ago, spread over the 50 days after that in the order of the
 * people, so that indexes are filled in their order.
 */
const idFunction =
  () => `create function pg_temp.id_of(kind integer, days integer, n bigint, people bigint) returns uuid language sql immutable as $$
  select (lpad(to_hex(${Date.now()} - days * ${dayMs}::bigint + n * ${50 * dayMs} / people), 12, '0')
    || '7' || lpad(to_hex(kind), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid $$`;

const userId = "pg_temp.id_of(1, 400, n, $1)";
const accountId = "pg_temp.id_of(2, 400, n, $1)";
/** The ids of the wallets, for the bench. */
export const walletId = "pg_temp.id_of(3, 400, n, $1)";
const grantId = "pg_temp.id_of(4, 350, n, $1)";
const conversationId = "pg_temp.id_of(5, 300, n, $1)";
/** Of the answer number a of person n, which began `ago` days ago. */
const generationId = "pg_temp.id_of(16 + a, 300 - 60 * a, n, $1)";
const captureId = "pg_temp.id_of(32 + a, 300 - 60 * a, n, $1)";
const questionId = "pg_temp.id_of(48 + a, 300 - 60 * a, n, $1)";
const answerId = "pg_temp.id_of(64 + a, 300 - 60 * a, n, $1)";
const people = "generate_series(1, $1::bigint) n";
const turns = `generate_series(0, ${answers - 1}) a, ${people}`;

/** By table: the columns and where they come from. $1 is the number of people. */
const fillings: readonly (readonly [table: string, columns: string, rows: string])[] = [
  ["users", "id, created_at", `select ${userId}, now() from ${people}`],
  [
    "identities",
    "user_id, kind, subject, verified_at, created_at",
    `select ${userId}, 'email', 'person-' || n || '@bench.example', now(), now() from ${people}`,
  ],
  ["billing_accounts", "id, created_at", `select ${accountId}, now() from ${people}`],
  [
    "billing_account_members",
    "user_id, billing_account_id, role, created_at",
    `select ${userId}, ${accountId}, 'owner', now() from ${people}`,
  ],
  [
    "user_subscriptions",
    "user_id, plan_key, billing_interval, status, stripe_subscription_id, current_period_start, current_period_end, started_at, updated_at",
    `select ${userId}, 'enterprise', 'month', 'active', 'sub_' || n, now(), now() + interval '1 month', now(), now() from ${people}`,
  ],
  [
    "wallets",
    "id, billing_account_id, balance, created_at",
    `select ${walletId}, ${accountId}, ${1_000_000 - answers}, now() from ${people}`,
  ],
  [
    "grants",
    "id, wallet_id, kind, credits, remaining, expires_at, source_key, invoice_id, invoice_line_id, created_at",
    `select ${grantId}, ${walletId}, 'plan', 1000000, ${1_000_000 - answers}, now() + interval '1 year', 'grant:in_' || n || ':il', 'in_' || n, 'il', now() from ${people}`,
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
     lease_expires_at, created_at, asked_at, ended_at`,
    `select ${generationId}, ${userId}, ${accountId}, 'gpt-5-mini', 'key-of-' || n || '-' || a, sha256(n::text::bytea), 'completed', ${generationId}, 1, 1,
       ${captureId}, ${userId}, now(), now(), now() - (300 - 60 * a) * interval '1 day', now() from ${turns}`,
  ],
  [
    "usage_days",
    "billing_account_id, day, model_id, answers, credits",
    `select ${accountId}, current_date, 'gpt-5-mini', ${answers}, ${answers} from ${people}`,
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
    `select ${questionId}, ${conversationId}, case when a > 0 then pg_temp.id_of(63 + a, 360 - 60 * a, n, $1) end, 'user', 'What is a tessera?', now() from ${turns}`,
  ],
  [
    "messages",
    "id, conversation_id, parent_id, role, generation_id, created_at",
    `select ${answerId}, ${conversationId}, ${questionId}, 'assistant', ${generationId}, now() from ${turns}`,
  ],
];

/** In one transaction: an interrupted filling leaves an empty database. Triggers and foreign keys rest; the books are checked by the bench. */
export async function fill(superuserUrl: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    await client.query("begin");
    await client.query("set local session_replication_role = replica");
    await client.query("set local maintenance_work_mem = '1GB'");
    await client.query(idFunction());
    const tables = [...new Set(fillings.map(([table]) => table))];
    // Made anew afterwards, which is much faster. Those of keys stay, and are filled in their order.
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

/** People of the database, evenly spread over it, and their wallets. */
export async function pickPeople(url: string, count: number, picked: number): Promise<{ userId: string; walletId: string }[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ userId: string; walletId: string }>(
      `select m.user_id as "userId", w.id as "walletId" from generate_series(1::bigint, $1::bigint, greatest($1::bigint / $2::bigint, 1::bigint)) n
         join identities i on i.kind = 'email' and i.subject = 'person-' || n || '@bench.example'
         join billing_account_members m on m.user_id = i.user_id join wallets w on w.billing_account_id = m.billing_account_id`,
      [count, picked],
    );
    return rows;
  } finally {
    await client.end();
  }
}
