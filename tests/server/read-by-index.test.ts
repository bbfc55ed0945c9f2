/**
 * What a person's page, a send, a sweep or an hourly check reads is found by an index, so that it costs the same however many rows there are.
 * PostgreSQL tells the plan of each statement, also of those within functions and triggers (`auto_explain`). The acts, and the data, are those
 * that `npm run bench -- scale` measures in large books.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { readConfig } from "#server/config.ts";
import { inTransaction } from "#server/db/transaction.ts";
import type { Deps } from "#server/deps.ts";
import { createDeps, createLogger } from "#server/deps.ts";
import { selectAccountOf } from "#server/features/billing/queries.ts";
import { dismissAlert } from "#server/features/credits/alerts.ts";
import { checkBooks } from "#server/features/credits/check-books.ts";
import { setLimits } from "#server/features/credits/limits.ts";
import { clawBack, expireGrant, postGrant, restoreCredits } from "#server/features/credits/service.ts";
import { eraseBatch, setDeleteAt } from "#server/features/deletion/queries.ts";
import type { Acts, ScalePerson } from "#tests/bench/scale-acts.ts";
import { actsOf, startStripe } from "#tests/bench/scale-acts.ts";
import { fill, pickPeople } from "#tests/bench/scale-data.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase, runAt, superuserUrlOf } from "#tests/support/postgres.ts";

const people = 200;
/** A table or an index with fewer rows holds waiting work or settings, or is empty in the data. It does not grow with the people. */
const fewRows = people / 50;

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  Plans?: PlanNode[];
}

interface Explained {
  "Query Text": string;
  Plan: PlanNode;
}

let database: TestDatabase;
let acts: Acts;
let explained: Explained[] = [];
/** The tables and indexes that grow. For an index the value is its first column. */
let growing: Map<string, string | null>;
const close: (() => Promise<unknown>)[] = [];

/** What people and schedules do now and then. */
function rareActs(deps: Deps, [person, leaver]: readonly ScalePerson[]): Acts {
  if (!person || !leaver) throw new Error("nobody is there");
  const { db } = deps;
  const now = new Date();
  return {
    "hourly check of the books": () => checkBooks(deps, new AbortController().signal),
    "limits of one's own": () => setLimits(db, person.userId, { dailyCapCredits: 50, askAboveCredits: 10, alertPercent: 50 }, now),
    "alert that was read": () => dismissAlert(db, person.userId, now),
    "grant that is taken back, given back and ended": () =>
      inTransaction(db, async (trx) => {
        const expiresAt = addMilliseconds(now, dayMs);
        const grant = { payerId: person.payerId, kind: "pack", credits: 100, expiresAt, key: "pack:rare" } as const;
        const { grantId } = await postGrant(trx, grant, now);
        expect(await clawBack(trx, { grantId, inAll: 40, reason: "refund", key: "clawback:rare" }, now)).toBe(40);
        expect(await restoreCredits(trx, { grantId, credits: 40, key: "restore:rare" }, now)).toBe(40);
        expect(await expireGrant(trx, grantId, now)).toBe(100);
      }),
    "account that is erased": async () => {
      await inTransaction(db, (trx) => setDeleteAt(trx, leaver.userId, addMilliseconds(now, -dayMs)));
      while ((await eraseBatch(db, leaver.userId, 100)) > 0);
      expect(await selectAccountOf(db, leaver.userId)).toBeUndefined();
    },
  };
}

beforeAll(async () => {
  database = await createTestDatabase();
  const superuserUrl = superuserUrlOf(database);
  await fill(superuserUrl, people);
  const settings = {
    session_preload_libraries: "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_format": "json",
    "auto_explain.log_level": "notice",
    // PostgreSQL would read tables this small from end to end. With this setting it uses an index wherever there is one.
    enable_seqscan: "off",
    enable_hashjoin: "off",
    enable_mergejoin: "off",
  };
  const name = new URL(superuserUrl).pathname.slice(1);
  await runAt(
    superuserUrl,
    Object.entries(settings).map(([setting, value]) => `alter database ${name} set ${setting} = '${value}'`),
  );
  const stripe = await startStripe();
  const deps = createDeps(readConfig(testEnvironment(database, { STRIPE_API_URL: stripe.url })), "test", createLogger("silent", "test"));
  close.push(
    () => deps.close(),
    stripe.close,
    () => database.drop(),
  );
  deps.pool.on("connect", (client) =>
    client.on("notice", ({ message = "" }) => {
      const plan = /^duration: .* plan:\n(.*)$/s.exec(message)?.[1];
      if (plan) explained.push(JSON.parse(plan));
    }),
  );
  const { rows } = await deps.pool.query<{ name: string; first: string | null }>(
    `select relname as name, case relkind when 'i' then pg_get_indexdef(oid, 1, true) end as first
       from pg_class where relnamespace = 'public'::regnamespace and reltuples >= $1`,
    [fewRows],
  );
  // One person in twenty has written to the team: so few messages are read sooner from beginning to end than by two indexes.
  const named = rows.filter(({ name }) => !name.startsWith("contact_messages"));
  growing = new Map(named.map(({ name, first }) => [name, first]));
  const persons = await pickPeople(superuserUrl, people, 20);
  acts = { ...(await actsOf(deps, persons)), ...rareActs(deps, persons) };
});
afterAll(async () => {
  for (const end of close) await end();
});

/** Whether a condition on the index's first column limits the read. A condition on its other columns alone reads all of it. */
function hasPlace({ "Index Name": index = "", "Index Cond": condition }: PlanNode): boolean {
  return condition?.includes(growing.get(index) ?? "") ?? false;
}

/**
 * The nodes that read a table that grows, or an index of it, without a place to begin and to end. A limit ends them at the first rows, also
 * where each row is joined with its own of other tables, or where rows of one moment, which the index leaves unordered, are sorted by their ids.
 */
function endlessScans(node: PlanNode, isLimited = false): PlanNode[] {
  const { "Node Type": type, "Relation Name": table = "", "Index Name": index } = node;
  const reads = type === "Seq Scan" || (/^(Index|Index Only|Bitmap Index) Scan$/.test(type) && !hasPlace(node));
  const isEndless = reads && growing.has(index ?? table) && !isLimited;
  const passesLimit = type === "Limit" || (/^(Nested Loop|Incremental Sort)$/.test(type) && isLimited);
  const below = (node.Plans ?? []).flatMap((child, place) => endlessScans(child, passesLimit && place === 0));
  return [...(isEndless ? [node] : []), ...below];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

test("no act reads a table that grows from its beginning to its end", async () => {
  const wrong: string[] = [];
  for (const [act, run] of Object.entries(acts)) {
    explained = [];
    await run();
    expect(explained.length, act).toBeGreaterThan(0);
    for (const { "Query Text": text, Plan: plan } of explained)
      for (const scan of endlessScans(plan))
        wrong.push(`${act}: ${scan["Node Type"]} of ${scan["Index Name"] ?? scan["Relation Name"]} in ${text}`);
  }
  expect(wrong).toEqual([]);
});

test("the check of the books reads the entries of a wallet once, and not again for each transaction", async () => {
  explained = [];
  const check = acts["hourly check of 100 wallets that moved"];
  if (!check) throw new Error("there is no such act any more");
  await check();
  const readings = explained.map(({ Plan: plan }) => nodesOf(plan).filter((node) => node["Relation Name"] === "ledger_entries").length);
  expect(Math.max(...readings)).toBe(1);
});
