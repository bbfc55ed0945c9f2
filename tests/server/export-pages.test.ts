/** A page of an export is read from its place on, so that an export costs as much as it has rows, and not the square of it. */
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allFiles } from "#server/features/files/service.ts";
import type { Place, Section } from "#server/features/own-data/section.ts";
import { pageOf, pageSize } from "#server/features/own-data/section.ts";
import { sections } from "#server/features/own-data/sections.ts";
import { createUser } from "#tests/support/people.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase, runAt, superuserUrlOf } from "#tests/support/postgres.ts";

const rowsEach = 500;
/** So many that nobody has a large share of a table. */
const peopleCount = 50;
/** Those of which a person gets more with every question, file or change of their account. */
const growing = {
  conversations: rowsEach,
  messages: 4 * rowsEach,
  receipts: rowsEach,
  ledger: rowsEach,
  activity: rowsEach,
  files: rowsEach,
};

let database: TestDatabase;
let userId: string;

/** Row n of each person, by turns. */
const each = `(select n, u.id as user_id, payer_of(u.id) as payer_id from generate_series(1, ${rowsEach}) n, users u order by n) o`;

const fillings = [
  `insert into conversations (id, user_id, title, created_at, updated_at)
     select uuidv7(interval '1 day' * n), user_id, 'Mosaics', now(), now() - interval '1 day' * n from ${each}`,
  `insert into messages (conversation_id, role, content, created_at)
     select id, 'user', 'Hello', now() from conversations, generate_series(1, 2)`,
  `insert into generations (id, user_id, payer_id, model_id, idempotency_key, request_hash, hold_id, quoted_credits, lease_owner, lease_expires_at,
       created_at, asked_at)
     select uuidv7(), user_id, payer_id, 'gpt-6-luna', 'key-of-' || n, '', uuidv7(), 1, uuidv7(), now(), now(), now() - interval '1 hour' * (n / 3)
       from ${each}`,
  `insert into ledger_transactions (key, kind, wallet_id, content, occurred_at)
     select 'fill:' || w.id || n, 'capture', w.id, '{}', now() from ${each} join wallets w on w.billing_account_id = payer_id order by n`,
  `insert into audit_events (subject, action, details) select audit_person(user_id), 'sign_in.completed', '{}' from ${each}`,
  `insert into files (user_id, kind, name, content_type, bytes, created_at)
     select user_id, case when n % 2 = 0 then 'attachment' else 'output' end, 'notes.txt', 'text/plain', 8, now() from ${each}`,
];

beforeAll(async () => {
  database = await createTestDatabase(1);
  const people = await Promise.all(Array.from({ length: peopleCount }, () => createUser(database.db, { credits: 0 })));
  userId = people[0]?.userId ?? "";
  const long = `insert into messages (conversation_id, role, content, created_at) select c.id, 'user', 'Hello', now()
    from (select id from conversations where user_id = '${userId}' order by id offset ${rowsEach / 2} limit 1) c, generate_series(1, ${2 * rowsEach})`;
  await runAt(superuserUrlOf(database), ["set session_replication_role = replica", ...fillings, long, "analyze"]);
  // In tables this small PostgreSQL would read everything. They are in memory, where no row is far away.
  const settings = ["enable_seqscan = off", "enable_hashjoin = off", "enable_mergejoin = off", "random_page_cost = 1"];
  for (const setting of settings) await sql.raw(`set ${setting}`).execute(database.db);
});
afterAll(() => database.drop());

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: PlanNode[];
}

/** How many rows of tables the plan has read. */
function readsOf(node: PlanNode): number {
  const { "Rows Removed by Filter": filtered = 0, "Rows Removed by Index Recheck": rechecked = 0 } = node;
  const own = node["Relation Name"] === undefined ? 0 : (node["Actual Rows"] + filtered + rechecked) * node["Actual Loops"];
  return (node.Plans ?? []).reduce((sum, child) => sum + readsOf(child), own);
}

async function explain(query: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ "QUERY PLAN": [{ Plan: PlanNode }] }>`explain (analyze, format json) ${query}`.execute(database.db);
  const [plan] = rows[0]?.["QUERY PLAN"] ?? [];
  if (!plan) throw new Error("PostgreSQL told no plan");
  return readsOf(plan.Plan);
}

/** All rows of a section, and how many rows of tables the dearest of its pages reads. */
async function walk(section: Section): Promise<{ keys: string[]; items: unknown[]; most: number }> {
  const walked = { keys: [] as string[], items: [] as unknown[], most: 0 };
  for (let after: Place | undefined; ; ) {
    const query = pageOf(section, userId, after);
    const { rows }: { rows: (Place & { item: unknown })[] } = await query.execute(database.db);
    walked.most = Math.max(walked.most, await explain(query));
    walked.keys.push(...rows.map(({ key }) => key));
    walked.items.push(...rows.map(({ item }) => item));
    after = rows.at(-1);
    if (rows.length < pageSize) return walked;
  }
}

test.each(Object.entries(growing))(
  "each page of %s reads as many rows as it has, and none is left out or there twice",
  async (name, count) => {
    const section = sections.find((known) => known.name === name);
    if (!section) throw new Error(`there is no section ${name}`);
    const { keys, items, most } = await walk(section);
    expect(keys).toHaveLength(count);
    expect(new Set(keys).size).toBe(count);
    expect(items).not.toContain(null);
    expect(most).toBeLessThan(5 * pageSize);
  },
);

test("the files of an export are all of the person's, each once", async () => {
  const ids: string[] = [];
  for await (const { id } of allFiles(database.db, userId)) ids.push(id);
  const own = await database.db.selectFrom("files").select("id").where("user_id", "=", userId).execute();
  expect(ids.sort()).toEqual(own.map(({ id }) => id).sort());
});
