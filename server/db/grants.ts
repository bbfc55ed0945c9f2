/** Least privilege: the rights of the application's role. Every migration grants them again, on our own objects only. */
import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { KeptTable } from "#domain/retention.ts";
import { retention, sweeps } from "#domain/retention.ts";
import { queueSchema } from "./queue-schema.ts";
import type { Database } from "./types.ts";

/**
 * The tables from which the application itself may delete. Retention sweeps delete through functions of the owner, each of
 * which enforces its own bound.
 */
const deletable = sql.raw(
  (
    [
      "auth_attempts",
      "clip_jobs",
      "conversations",
      "discount_campaigns",
      "email_links",
      "files",
      "model_prices",
      "outbox",
      "put_off_needs",
      "saved_views",
      "sweep_failures",
      // Sums that can be made anew from the raw rows.
      "credit_expiries",
      "daily_answers",
      "daily_credits",
      "daily_first_texts",
      "daily_people",
      "daily_subscriptions",
      "waiting_answers",
    ] satisfies KeptTable[]
  ).join(", "),
);
const tables = sql.raw(Object.keys(retention satisfies Record<keyof Database, unknown>).join(", "));

const ledgerTables = sql.raw("wallets, grants, ledger_keys, ledger_transactions, ledger_entries, holds, hold_parts");
const appendOnly = sql.raw(
  (["subscription_changes", "paid_invoice_lines", "contact_events", "former_customers"] satisfies KeptTable[]).join(", "),
);
/** Only `audit_record` writes the audit log. */
const auditTables = sql.raw("audit_people, audit_events, audit_origins, audit_reasons");
const functions = [
  "account_drop_exports",
  "account_erase",
  "audit_record",
  "avatar_forget",
  "business_now",
  "factors_remove",
  "file_reserve",
  "google_unlink",
  "undo_ways_in",
  "passkey_remove",
  ..."ledger_post_grant ledger_hold ledger_hold_many ledger_settle ledger_settle_many ledger_end_hold ledger_expire_grant ledger_claw_back ledger_restore ledger_available".split(
    " ",
  ),
  ..."ledger_disagreements ledger_disagreements_in payer_of".split(" "),
  ..."ledger_assert_balanced ledger_assert_entries ledger_assert_wallet ledger_refuse_change answer_start turn_start answers_start answer_end answers_end".split(
    " ",
  ),
  ..."send_retry_after_ms hold_unasked attachments_are_there sends_refuse spending_count attachments_place spending_return made_files_keep".split(
    " ",
  ),
  ..."generation_is_sound generation_part_is_sound message_is_sound messages_up_to".split(" "),
  ..."answer_log_add_partition answer_log_drop_partition usage_count usage_count_many spending_limits_set credit_alert_set credit_alert_dismiss".split(
    " ",
  ),
  ...Object.values(sweeps).map((sweep) => sweep.sql),
];

const listed = (names: readonly string[]) => sql.raw(names.join(", "));

/** The objects in a schema that our migrations created. We must not grant rights on objects of extensions or of other people. */
async function ownObjects(db: Kysely<unknown>, schema: string) {
  const { rows } = await sql<{ kind: "function" | "sequence" | "table"; name: string }>`
    with ours as (
        select 'pg_class'::regclass as class, oid, relowner as owner, case relkind when 'S' then 'sequence' else 'table' end as kind,
            format('%I.%I', relnamespace::regnamespace, relname) as name
          from pg_class where relnamespace = ${schema}::regnamespace and relkind in ('r', 'p', 'v', 'S')
        union all select 'pg_proc'::regclass, oid, proowner, 'function', oid::regprocedure::text from pg_proc
          where pronamespace = ${schema}::regnamespace and prokind = 'f')
    select kind, name from ours where owner = (select relowner from pg_class where oid = 'public.migrations'::regclass)
      and not exists (select from pg_depend d where d.classid = ours.class and d.objid = ours.oid and d.deptype = 'e')`.execute(db);
  const of = (kind: (typeof rows)[number]["kind"]) => rows.filter((row) => row.kind === kind).map(({ name }) => name);
  return { tables: listed(of("table")), functions: of("function"), sequences: of("sequence") };
}

/** All signatures of a function name: while two releases run side by side, each calls its own version. */
function signaturesOf(name: string, own: readonly string[]): string[] {
  return own.filter((signature) => signature.startsWith(`${name}(`));
}

/**
 * Called after a down migration. A function that the down migration created again is executable by everyone, so this revokes
 * that and grants the application its own functions.
 */
export async function grantAfterMigratingDown(trx: Kysely<unknown>, role: string): Promise<void> {
  const own = await ownObjects(trx, "public");
  if (own.functions.length === 0) return;
  await sql`revoke execute on function ${listed(own.functions)} from public`.execute(trx);
  const left = functions.flatMap((name) => signaturesOf(name, own.functions));
  if (left.length > 0) await sql`grant execute on function ${listed(left)} to ${sql.id(role)}`.execute(trx);
}

/** Runs in the migration's transaction, so that a running application never has a right too many or too few. */
export async function grantToApplication(trx: Kysely<unknown>, role: string): Promise<void> {
  const name = sql.id(role);
  const queue = sql.id(queueSchema);
  const own = await ownObjects(trx, "public");
  const queues = await ownObjects(trx, queueSchema);
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(trx);
  const database = sql.id(rows[0]?.name ?? "");
  const missing = functions.filter((called) => signaturesOf(called, own.functions).length === 0);
  if (missing.length > 0) throw new Error(`the application calls functions that do not exist: ${missing.join(", ")}`);
  const statements = [
    sql`grant usage on schema public to ${name}`,
    sql`grant select, insert, update on ${tables} to ${name}`,
    sql`revoke delete, truncate on ${tables} from ${name}`,
    sql`grant delete on ${deletable} to ${name}`,
    sql`revoke insert, update, delete, truncate on ${ledgerTables} from ${name}`,
    sql`revoke update on ${appendOnly} from ${name}`,
    // The application may change nothing that Stripe sent except the payload, which it removes with personal data.
    sql`revoke update on stripe_events from ${name}`,
    sql`grant update (status, processed_at, taken_by, taken_until, payload) on stripe_events to ${name}`,
    sql`revoke update on orders from ${name}`,
    sql`grant update (stripe_session_id, stripe_subscription_id, contract_id, concluded_at) on orders to ${name}`,
    sql`revoke insert, update on usage_days, file_space, daily_departures from ${name}`,
    sql`revoke insert, update on model_accounts from ${name}`,
    sql`grant update (told) on model_accounts to ${name}`,
    sql`revoke insert on figure_marks from ${name}`,
    sql`revoke update on settings from ${name}`,
    sql`grant update (value, version, changed_at, changed_by, reason) on settings to ${name}`,
    // Only `file_reserve` adds a file, which checks whether there is room for it.
    sql`revoke insert, update on files from ${name}`,
    sql`grant update (conversation_id, content_type, bytes, width, height, duration_ms, pages) on files to ${name}`,
    sql`revoke insert, update, delete, truncate on ${auditTables} from ${name}`,
    sql`grant insert (billing_account_id, created_at) on wallets to ${name}`,
    sql`grant update (frozen_at) on wallets to ${name}`,
    // Triggers open accounts and make people their members: the application could otherwise let a person spend another's credits.
    sql`revoke insert, update on billing_accounts, billing_account_members from ${name}`,
    sql`grant update (stripe_customer_id, invoices_read_at) on billing_accounts to ${name}`,
    sql`revoke all on migrations, migrations_lock from ${name}`,
    sql`grant select on migrations to ${name}`,
    sql`revoke execute on function ${listed(own.functions)} from public`,
    sql`grant execute on function ${listed(functions.flatMap((called) => signaturesOf(called, own.functions)))} to ${name}`,
    // BullMQ creates a sequence for each queue at run time, and a temporary table for every bulk of jobs.
    sql`grant temporary on database ${database} to ${name}`,
    sql`grant usage, create on schema ${queue} to ${name}`,
    sql`grant select, insert, update, delete on ${queues.tables} to ${name}`,
    sql`grant execute on function ${listed(queues.functions)} to ${name}`,
    // BullMQ created the others as the application's role, which therefore owns them; only an owner can grant them.
    ...queues.sequences.map((sequence) => sql`grant usage on sequence ${sql.raw(sequence)} to ${name}`),
  ];
  for (const statement of statements) await statement.execute(trx);
}
