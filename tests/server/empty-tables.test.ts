/**
 * PostgreSQL plans the statements of an answer's start and end once per connection, and a plan from a moment when the tables were empty stays
 * until statistics are collected again. It must find rows by an index all the same (docs/decisions/0071).
 */
import { expect, test } from "vitest";
import { createDatabase, createPool } from "#server/db/database.ts";
import { createAnswerBatches } from "#server/features/generations/batches.ts";
import { createUser } from "#tests/support/people.ts";
import { createTestDatabase, runAt, superuserUrlOf } from "#tests/support/postgres.ts";
import { startOf } from "#tests/support/starts.ts";

/** Each start adds rows to them. */
const growing = "(generations|generation_keys|refused_sends|grants|holds|hold_parts|ledger_\\w+|conversations|messages|files)";
/** A scan of a whole table or a whole index. */
const readsAll = new RegExp(`Seq Scan on ${growing}\\b|Index (Only )?Scan (using \\w+ )?on ${growing}\\b[^\\n]*\\n(?!\\s*Index Cond)`);

test("the first answer of an empty database finds every row by an index, in functions, triggers and foreign keys", async () => {
  const database = await createTestDatabase();
  const superuserUrl = superuserUrlOf(database);
  const name = new URL(superuserUrl).pathname.slice(1);
  const settings = { log_min_duration: "0", log_nested_statements: "on", log_level: "notice" };
  await runAt(superuserUrl, [
    "analyze",
    `alter database ${name} set session_preload_libraries = 'auto_explain'`,
    ...Object.entries(settings).map(([setting, value]) => `alter database ${name} set auto_explain.${setting} = '${value}'`),
  ]);
  const pool = createPool(database.applicationUrl, 1, "test");
  const db = createDatabase(pool);
  const plans: string[] = [];
  const { userId } = await createUser(database.db, { credits: 10 });
  const start = startOf(userId);
  pool.on("connect", (client) => client.on("notice", ({ message = "" }) => plans.push(message)));
  const batches = createAnswerBatches(db);
  expect(await batches.start(start)).toMatchObject({ outcome: "created" });
  const spent = { chargedCredits: 1, promptTokens: 1, completionTokens: 1, costMicroDollars: 1, kinds: start.kinds };
  const said = { parts: [{ kind: "text" as const, text: "A tile." }], lastFrames: undefined, now: new Date() };
  const end = { id: start.id, owner: start.owner, status: "completed" as const, failureCode: null, cutShort: false };
  expect(await batches.end({ ...end, ...spent, ...said })).toMatchObject({ status: "completed" });
  await db.destroy();
  await database.drop();
  expect(plans.length).toBeGreaterThan(30);
  expect(plans.filter((plan) => readsAll.test(plan))).toEqual([]);
});
