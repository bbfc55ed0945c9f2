/** The filtered history and its CSV: what they contain, and what reading them costs. */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { LedgerFilter, LedgerLine, LedgerPage } from "#contract/credits/ledger.ts";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { findModel } from "#domain/models.ts";
import { mostLinesRead, readLedger } from "#server/features/credits/history.ts";
import { ledgerCsv } from "#server/features/credits/history-csv.ts";
import { seededRandom } from "#tests/support/ledger-model.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson, createUser } from "#tests/support/people.ts";
import { fillHistory, historyModels, postAnswer } from "#tests/support/random-history.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

const firstDay = new Date("2025-11-20T09:00:00Z");

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(() => product.close());

async function readAll(userId: string, limit: number, filter: LedgerFilter): Promise<LedgerLine[]> {
  const lines: LedgerLine[] = [];
  let cursor: string | undefined;
  do {
    const page: LedgerPage = await readLedger(product.db, userId, cursor, limit, filter);
    expect(page.lines.length).toBeLessThanOrEqual(limit);
    lines.push(...page.lines);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return lines;
}

interface RebuiltLine {
  id: string;
  kind: string;
  credits: number;
  balanceAfter: number;
  day: string;
  model: string | null;
  grants: string[];
}

/** All lines of a wallet, computed from its raw entries by adding them up from the first, newest first. */
async function rebuild(walletId: string): Promise<RebuiltLine[]> {
  const { rows } = await sql<{
    id: string;
    kind: string;
    occurred_at: Date;
    amount: number;
    grant_id: string;
    model: string | null;
  }>`select t.id, t.kind, t.occurred_at, e.amount, e.grant_id, g.model_id as model from ledger_transactions t
       join ledger_entries e on e.transaction_id = t.id and e.account = 'wallet'
       left join generations g on g.capture_id = t.id where t.wallet_id = ${walletId} order by t.id, e.line`.execute(product.db);
  const lines = new Map<string, RebuiltLine>();
  let balance = 0;
  for (const row of rows) {
    balance += row.amount;
    const line = lines.get(row.id) ?? {
      ...{ id: row.id, kind: row.kind, credits: 0, balanceAfter: 0, day: row.occurred_at.toISOString().slice(0, 10) },
      ...{ model: row.model, grants: [] },
    };
    line.credits += row.amount;
    line.balanceAfter = balance;
    line.grants.push(row.grant_id);
    lines.set(row.id, line);
  }
  return [...lines.values()].filter(({ kind }) => kind !== "repay").toReversed();
}

function matches(line: RebuiltLine, { kind, model, grant, from, to, direction }: LedgerFilter): boolean {
  return (
    (kind === undefined || line.kind === kind) &&
    (model === undefined || line.model === model) &&
    (grant === undefined || line.grants.includes(grant)) &&
    (from === undefined || line.day >= from) &&
    (to === undefined || line.day <= to) &&
    (direction === undefined || (direction === "in" ? line.credits > 0 : line.credits < 0))
  );
}

it("every filter's pages are the lines of the whole history that match, with the balances of the whole history", async () => {
  const seed = Math.floor(Date.now() / 1000) % 1_000_000;
  const random = seededRandom(seed);
  const owner = await createUser(product.db);
  const { grantIds, now } = await fillHistory(product, owner, { seed, steps: 260, from: firstDay });
  const all = await rebuild(owner.walletId);
  const days = Math.ceil((now.getTime() - firstDay.getTime()) / dayMs);
  const someDay = () =>
    addMilliseconds(firstDay, random(days) * dayMs)
      .toISOString()
      .slice(0, 10);
  const perhaps = <Key extends keyof LedgerFilter>(key: Key, value: LedgerFilter[Key]) => (random(3) === 0 ? { [key]: value } : {});
  const kinds = ["grant", "capture", "expire", "clawback", "restore"] as const;
  let found = 0;
  for (let round = 0; round < 60; round += 1) {
    const filter: LedgerFilter = {
      ...perhaps("kind", kinds[random(kinds.length)]),
      ...perhaps("model", historyModels[random(historyModels.length)]),
      ...perhaps("grant", grantIds[random(grantIds.length)]),
      ...perhaps("from", someDay()),
      ...perhaps("to", someDay()),
      ...perhaps("direction", random(2) === 0 ? "in" : "out"),
    };
    const expected = all.filter((line) => matches(line, filter));
    found += expected.length;
    const told = await readAll(owner.userId, [1, 7, 100][round % 3] ?? 7, filter);
    expect(
      told.map(({ id, credits, balanceAfter }) => [id, credits, balanceAfter]),
      `seed ${seed}, ${JSON.stringify(filter)}`,
    ).toEqual(expected.map(({ id, credits, balanceAfter }) => [id, credits, balanceAfter]));
  }
  expect(found).toBeGreaterThan(100);
});

/** A wallet with so many captures of one credit, written in bulk; one line in the middle is an expiry. */
async function fillLong(captures: number): Promise<{ userId: string; walletId: string }> {
  const owner = await createUser(product.db, { credits: 1_000_000 });
  await product.asOwner(
    `do $$
     declare
       v_wallet uuid := '${owner.walletId}';
       v_grant uuid := (select id from grants where wallet_id = v_wallet);
       v_ids uuid[] := array(select uuidv7() from generate_series(1, ${captures}) order by 1);
     begin
       insert into ledger_keys (key, transaction_id) select 'long:' || id, id from unnest(v_ids) id;
       insert into ledger_transactions (id, key, kind, wallet_id, content, occurred_at)
         select id, 'long:' || id, case place when ${Math.floor(captures / 2)} then 'expire' else 'capture' end, v_wallet, '{}', now()
           from unnest(v_ids) with ordinality as numbered (id, place);
       insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount)
         select id, 1, 'wallet', v_wallet, v_grant, -1 from unnest(v_ids) id
         union all select id, 2, 'spent', v_wallet, v_grant, 1 from unnest(v_ids) id;
       update grants set remaining = remaining - ${captures} where id = v_grant;
       update wallets set balance = balance - ${captures} where id = v_wallet;
     end $$`,
    "analyze",
  );
  return owner;
}

it("a filter that matches little reads a bounded part of a long history, says how far it came, and goes on from there", async () => {
  const captures = mostLinesRead * 2.5;
  const owner = await fillLong(captures);
  const { db } = product;
  const first = await readLedger(db, owner.userId, undefined, 25, { kind: "expire" });
  expect(first.lines).toEqual([]);
  expect(first.readTo).not.toBeNull();
  const second = await readLedger(db, owner.userId, first.nextCursor ?? "", 25, { kind: "expire" });
  expect(second.lines.map(({ kind, balanceAfter }) => [kind, balanceAfter])).toEqual([["expire", 1_000_000 - captures / 2]]);
  const third = await readLedger(db, owner.userId, second.nextCursor ?? "", 25, { kind: "expire" });
  expect(third).toEqual({ lines: [], nextCursor: null, readTo: null });
  // A filter that matches everything reads as little as none.
  const touched = await db.transaction().execute(async (trx) => {
    const fetched = async () => {
      const { rows } = await sql<{ fetched: number }>`select sum(seq_tup_read + idx_tup_fetch)::integer as fetched
        from pg_stat_xact_user_tables where relname in ('ledger_transactions', 'ledger_entries')`.execute(trx);
      return rows[0]?.fetched ?? 0;
    };
    const before = await fetched();
    await readLedger(trx, owner.userId, undefined, 25, { direction: "out" });
    return (await fetched()) - before;
  });
  expect(touched).toBeGreaterThan(50);
  expect(touched).toBeLessThan(2_000);
});

const csvPath = "/api/credits/ledger.csv";
/** Cells of a row; the test writes no line breaks into texts. */
const cellsOf = (row: string) =>
  [...row.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, text, plain]) => text?.replaceAll('""', '"') ?? plain);

async function csvOf(person: TestPerson, query = "") {
  const response = await product.get(`${csvPath}${query}`, person.token);
  return { response, rows: response.rawPayload.toString("utf8").split("\r\n").slice(0, -1).map(cellsOf) };
}

it("the CSV has the lines of the filtered history, in UTF-8 that Excel recognises, with times in UTC and plain numbers", async () => {
  const person = await createPerson(product, product.db);
  const at = new Date("2026-03-10T23:30:00.000Z");
  await postAnswer(product, person, { modelId: "gpt-5-mini", credits: 1, title: 'Mosaïque, "petite"; 日本語' }, at);
  await postAnswer(product, person, { modelId: "gpt-5", credits: 5 }, addMilliseconds(at, dayMs));
  const { response, rows } = await csvOf(person);
  expect(response.headers["content-type"]).toBe("text/csv; charset=utf-8");
  expect(response.headers["content-disposition"]).toBe('attachment; filename="tessera-history.csv"');
  expect(response.headers["cache-control"]).toContain("no-store");
  const { lines } = await readLedger(product.db, person.userId, undefined, 10);
  const nameOf = (id: string | null) => findModel(id ?? "")?.name ?? "";
  expect(rows).toEqual([
    [
      ...["\uFEFFtime", "kind", "grant", "model", "conversation", "credits", "balance_after", "id"],
      ...["reason", "plan", "interval", "month", "from", "until", "pack", "invoice"],
    ],
    ...lines.map((line) => [
      ...[line.occurredAt, line.kind, line.grantKind ?? "", nameOf(line.modelId), line.conversationTitle ?? ""],
      ...[String(line.credits), String(line.balanceAfter), line.id],
      // None of these was taken back or sold.
      ...Array.from({ length: 8 }, () => ""),
    ]),
  ]);
  expect(rows[2]?.slice(0, 7)).toEqual(["2026-03-10T23:30:00.000Z", "capture", "", "GPT-5 Mini", 'Mosaïque, "petite"; 日本語', "-1", "99"]);
  expect((await csvOf(person, "?from=2026-03-11&to=2026-03-11")).rows.map((row) => row[3])).toEqual(["model", "GPT-5"]);
  expect((await csvOf(person, "?kind=restore")).rows).toHaveLength(1);
});

it.each(["=1+1", "+1", "-1", "@SUM(1)", "  =1+1", "\t=1", "＝1"])("a conversation called %j is no formula in the CSV", async (title) => {
  const person = await createPerson(product, product.db);
  await postAnswer(product, person, { modelId: "gpt-5", credits: 5, title }, new Date());
  const { rows } = await csvOf(person);
  expect(rows[1]?.[4]).toBe(`'${title}`);
});

it("the CSV is only for the person who is signed in, and refuses a filter it does not know", async () => {
  const person = await createPerson(product, product.db);
  expect((await product.app.inject({ method: "GET", url: csvPath })).statusCode).toBe(401);
  for (const query of ["?kind=repay", "?from=yesterday", "?from=2026-02-30", "?nothing=1", "?grant=x"])
    expect((await product.get(`${csvPath}${query}`, person.token)).statusCode, query).toBe(400);
});

it("the CSV of a long history is read page by page as it is sent, and not beyond the reader's leaving", async () => {
  const owner = await fillLong(3_000);
  let statements = 0;
  const counting = product.db.withPlugin({
    transformQuery: ({ node }) => {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const rows = ledgerCsv(counting, owner.userId, {}, (id) => id);
  await rows.next();
  expect(statements).toBe(0);
  await rows.next();
  const perPage = statements;
  expect(perPage).toBeGreaterThan(0);
  await sleep(20);
  expect(statements).toBe(perPage);
  await rows.return();
  expect(await rows.next()).toEqual({ done: true, value: undefined });
  expect(statements).toBe(perPage);
});
