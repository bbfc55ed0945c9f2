/**
 * `npm run reconcile [-- --full | --close <id>]` lists what the checks of payments and books have found and left to a person, and what to do
 * about it. `--full` asks the worker to check every account, and waits; after Ctrl-C the worker goes on. `--close` closes a finding that
 * somebody has dealt with. It uses the database of DATABASE_URL, or else the running PostgreSQL of DATA_DIR. The exit code is 1 if anything
 * is open.
 */
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { validate as isUuid } from "uuid";
import { findingKinds } from "#domain/findings.ts";
import type { Db } from "../db/database.ts";
import { createDatabase, createPool } from "../db/database.ts";
import { askForFullCheck, countFailedChecks, readFullCheck } from "../features/billing/full-check.ts";
import { closeFinding, listOpenFindings } from "../features/findings/service.ts";
import { StartError } from "../start-error.ts";
import { databaseAddress } from "./database-address.ts";
import { runCommand } from "./run-command.ts";

const listed = 200;
const lookEveryMs = 500;
const sayEveryMs = 10_000;
/** The worker looks at its schedules twice a second. After this time without progress there is probably none. */
const patienceMs = 60_000;

async function businessNow(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select business_now() as now`.execute(db);
  return rows[0]?.now ?? new Date();
}

async function list(db: Db): Promise<string[]> {
  const open = await listOpenFindings(db, listed);
  if (open.length === 0) return ["nothing is open"];
  process.exitCode = 1;
  const lines = open.map(({ id, kind, subject, billing_account_id, details, first_seen_at, times_seen }) => {
    const { what, toDo } = findingKinds[kind];
    const whose = billing_account_id === null ? "" : `, account ${billing_account_id}`;
    return [
      `${id}  ${kind} ${subject}${whose}`,
      `  ${what}: ${JSON.stringify(details)}; since ${first_seen_at.toISOString()}, seen ${times_seen} times`,
      `  ${toDo}`,
    ].join("\n");
  });
  return open.length < listed ? lines : [...lines, `the oldest ${listed} are shown; there may be more`];
}

/** Waits until the worker has checked every account. */
async function checkAll(db: Db): Promise<string[]> {
  await askForFullCheck(db, await businessNow(db));
  let saidAt = performance.now();
  let movedAt = performance.now();
  let before = "";
  for (;;) {
    const { done_at: doneAt, accounts, reached } = await readFullCheck(db);
    if (doneAt !== null) {
      const failed = await countFailedChecks(db);
      const left = failed === 0 ? [] : [`${failed} of them could not be checked, as the worker's log says; they are tried again each hour`];
      return [`every account was checked: ${accounts}`, ...left, ...(await list(db))];
    }
    const now = performance.now();
    if (reached !== before) movedAt = now;
    before = reached;
    if (now - saidAt >= sayEveryMs) {
      console.log(`${accounts} accounts checked`);
      saidAt = now;
    }
    if (now - movedAt > patienceMs)
      throw new StartError("the check makes no progress: no worker runs, or Stripe does not respond. It continues by itself when they do");
    await delay(lookEveryMs);
  }
}

async function close(db: Db, id: string): Promise<string[]> {
  if (!isUuid(id) || !(await closeFinding(db, id, await businessNow(db)))) throw new StartError(`there is no open finding ${id}`);
  return [`${id} is closed`];
}

async function run(): Promise<string[]> {
  const { values } = parseArgs({ options: { full: { type: "boolean" }, close: { type: "string" } } });
  if (values.full && values.close !== undefined) throw new StartError("give one of --full and --close");
  const db = createDatabase(createPool(await databaseAddress(process.env), 1, "tessera reconcile"));
  try {
    if (values.close !== undefined) return await close(db, values.close);
    return values.full ? await checkAll(db) : await list(db);
  } finally {
    await db.destroy();
  }
}

await runCommand(run);
