/** The hourly check of the books: which errors it finds, and that it checks a few wallets at a time. */
import { randomUUID } from "node:crypto";
import pg from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addMilliseconds, hourMs } from "#domain/clock.ts";
import { grantKinds } from "#domain/credits.ts";
import { findPayer } from "#server/db/payer.ts";
import { checkBooks } from "#server/features/credits/check-books.ts";
import { holdCredits } from "#tests/support/ledger-calls.ts";
import { createUser } from "#tests/support/people.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

let database: TestDatabase;
let owner: pg.Client;
const log = pino({ level: "silent" });
const nil = "00000000-0000-0000-0000-000000000000";

beforeAll(async () => {
  database = await createTestDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
});
afterAll(async () => {
  await owner.end();
  await database.drop();
});

const clock = { now: () => new Date(), onMove: () => {}, close: async () => {} };
const check = () => checkBooks({ db: database.db, log, clock }, new AbortController().signal);

async function markOf(name: "recent" | "round"): Promise<string | undefined> {
  return (await database.db.selectFrom("ledger_checks").select("reached").where("name", "=", name).executeTakeFirst())?.reached;
}

/** Makes every transaction old enough to count as settled; only the owner of the tables can do this. */
async function letSettle(): Promise<void> {
  await owner.query("begin; alter table ledger_transactions disable trigger ledger_transactions_append_only");
  await owner.query("update ledger_transactions set recorded_at = recorded_at - interval '10 minutes'");
  await owner.query("alter table ledger_transactions enable trigger ledger_transactions_append_only; commit");
}

async function tamper(walletId: string, by = 1): Promise<void> {
  await owner.query("begin; alter table wallets disable trigger wallets_agree");
  await owner.query("update wallets set balance = balance + $2 where id = $1", [walletId, by]);
  await owner.query("alter table wallets enable trigger wallets_agree; commit");
}

test("checks the transactions since the last check once they are settled, and every wallet in turn", async () => {
  const wallets = await Promise.all(Array.from({ length: 230 }, () => createUser(database.db, { credits: 5 })));
  expect(await check()).toEqual([]);
  expect(await markOf("recent"), "too young").toBe(nil);
  await letSettle();
  expect(await check()).toEqual([]);
  const reached = await markOf("recent");
  const { rows } = await database.pool.query<{ id: string }>("select id from ledger_transactions order by id desc limit 1");
  expect(reached).toBe(rows[0]?.id);
  expect(await markOf("round"), "a round that has ended begins anew").toBe(nil);

  // No transaction belongs to this error, so only the turn through all wallets can find it.
  const victim = wallets[150];
  if (!victim) throw new Error("no wallet");
  await tamper(victim.walletId);
  expect(await check()).toEqual([{ kind: "wallet", id: victim.walletId, recorded: 6, rebuilt: 5 }]);
});

test("a disagreement is written down once with its account, counted when it is found again, and resolved when it is gone", async () => {
  const { walletId, userId } = await createUser(database.db, { credits: 5 });
  const findings = () => database.db.selectFrom("findings").selectAll().where("subject", "=", `wallet:${walletId}`).execute();
  await tamper(walletId);
  await check();
  const [first] = await findings();
  expect(first).toMatchObject({ kind: "books_disagree", details: { walletId, recorded: 6, rebuilt: 5 }, times_seen: 1, resolved_at: null });
  expect(first?.billing_account_id).toBe(await findPayer(database.db, userId));
  await check();
  expect(await findings()).toMatchObject([{ id: first?.id, times_seen: 2, resolved_at: null }]);
  await tamper(walletId, -1);
  await check();
  expect(await findings()).toMatchObject([{ id: first?.id, times_seen: 2, resolved_by: "itself", resolved_at: expect.any(Date) }]);
});

test("a worker that is overtaken by another goes on where the other is", async () => {
  const { rows } = await database.pool.query<{ id: string }>("select max(id::text) as id from wallets");
  const reached = String(rows[0]?.id);
  const seen: string[] = [];
  await checkBooks({ db: database.db, log, clock }, new AbortController().signal, async (walletIds) => {
    seen.push(...walletIds);
    await database.db.updateTable("ledger_checks").set({ reached }).where("name", "=", "round").where("reached", "=", nil).execute();
  });
  // The first page only: the other worker has checked the rest.
  expect(seen).toHaveLength(100);
  expect(await markOf("round")).toBe(nil);
});

test("months that the release before posts and schedules, without their column, have it", async () => {
  const { walletId } = await createUser(database.db);
  const key = "month:in_1:il_1:3";
  await database.pool.query("select ledger_post_grant($1, 'plan', 10, now() + interval '1 month', $2, now(), 'in_1', 'il_1', null, null)", [
    walletId,
    key,
  ]);
  await database.pool.query(
    `insert into scheduled_grants (key, billing_account_id, credits, due_at, expires_at, invoice_id, invoice_line_id)
       select $1, billing_account_id, 10, now(), now() + interval '1 month', 'in_1', 'il_1' from wallets where id = $2`,
    [key, walletId],
  );
  const month = (table: "grants" | "scheduled_grants") =>
    database.db.selectFrom(table).select("invoice_month").where("invoice_line_id", "=", "il_1").executeTakeFirst();
  expect([await month("grants"), await month("scheduled_grants")]).toEqual([{ invoice_month: 3 }, { invoice_month: 3 }]);
});

test("finds every kind of disagreement that a complete rebuild finds", async () => {
  const { walletId } = await createUser(database.db, { credits: 9 });
  await owner.query("begin; set constraints all deferred; alter table wallets disable trigger wallets_agree");
  await owner.query("update wallets set balance = 8, held = 2 where id = $1", [walletId]);
  await owner.query("update grants set remaining = 8 where wallet_id = $1", [walletId]);
  await owner.query("alter table wallets enable trigger wallets_agree; commit");
  const whole = await database.pool.query("select * from ledger_disagreements() order by kind, id");
  const kinds = whole.rows.map(({ kind }) => kind);
  expect(new Set(kinds)).toEqual(new Set(["grant", "held", "wallet"]));
  const found = await check();
  expect(found.toSorted((a, b) => `${a.kind}${a.id}`.localeCompare(`${b.kind}${b.id}`))).toEqual(whole.rows);
});

test("finds a hold that is not the sum of its parts, and transactions without entries or with entries that don't sum to zero", async () => {
  const { walletId } = await createUser(database.db, { credits: 9 });
  const now = new Date();
  const hold = { holdId: randomUUID(), walletId, credits: 4, kinds: grantKinds, now, deadline: addMilliseconds(now, hourMs), wallNow: now };
  await holdCredits(database.db, hold);
  await owner.query("update hold_parts set amount = 5, settled = 1 where hold_id = $1", [hold.holdId]);
  const tables = ["ledger_transactions", "ledger_entries"];
  const triggers = (what: string) => tables.map((table) => `alter table ${table} ${what} trigger user`).join(";");
  await owner.query(`begin; ${triggers("disable")}`);
  await owner.query(
    `with empty as (insert into ledger_transactions (key, kind, wallet_id, content, occurred_at) values ('empty', 'grant', $1, '{}', now())),
       one_sided as (insert into ledger_transactions (key, kind, wallet_id, content, occurred_at) values ('one-sided', 'grant', $1, '{}', now()) returning id)
     insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount)
       select one_sided.id, 1, 'issued', $1, grants.id, 5 from one_sided, grants where grants.wallet_id = $1`,
    [walletId],
  );
  await owner.query(`${triggers("enable")}; commit`);
  const { rows: found } = await database.pool.query(
    "select kind, recorded, rebuilt from ledger_disagreements_in(array[$1::uuid]) order by kind, rebuilt",
    [walletId],
  );
  expect(found).toEqual([
    { kind: "part", recorded: 4, rebuilt: 5 },
    { kind: "settled", recorded: 0, rebuilt: 1 },
    { kind: "transaction", recorded: 0, rebuilt: 0 },
    { kind: "transaction", recorded: 0, rebuilt: 5 },
  ]);
  const { rows: whole } = await database.pool.query(
    "select kind, recorded, rebuilt from ledger_disagreements() where kind in ('part', 'settled', 'transaction') order by kind, rebuilt",
  );
  expect(found).toEqual(whole);
});

test("passes over a wallet that can't be checked in time, and says so", async () => {
  const [slow, wrong] = [await createUser(database.db, { credits: 5 }), await createUser(database.db, { credits: 5 })];
  if (!slow || !wrong) throw new Error("no wallets");
  await owner.query(`
    alter function ledger_disagreements_in(uuid[]) rename to quick_disagreements_in;
    create function ledger_disagreements_in(wallet_ids uuid[])
      returns table (kind text, id uuid, recorded bigint, rebuilt bigint) language plpgsql security definer as $$
      begin
        if '${slow.walletId}' = any (wallet_ids) then raise query_canceled; end if;
        return query select * from quick_disagreements_in(wallet_ids);
      end $$`);
  await tamper(wrong.walletId);
  const said: unknown[] = [];
  const noting = pino({ level: "error" }, { write: (line: string) => said.push(JSON.parse(line)) });
  const found = await checkBooks({ db: database.db, log: noting, clock }, new AbortController().signal);
  expect(found).toContainEqual({ kind: "wallet", id: wrong.walletId, recorded: 6, rebuilt: 5 });
  expect(said).toContainEqual(expect.objectContaining({ walletId: slow.walletId, msg: "a wallet could not be checked in time" }));
  expect(await markOf("round")).toBe(nil);
});

test("an error at one wallet keeps the check from no other wallet, and that wallet is checked again by the next run", async () => {
  const wallets = await Promise.all(Array.from({ length: 3 }, () => createUser(database.db, { credits: 5 })));
  await letSettle();
  const broken = wallets[1]?.walletId ?? expect.fail("no wallet");
  let isBroken = true;
  let seen: string[] = [];
  const run = async () => {
    seen = [];
    await checkBooks({ db: database.db, log, clock }, new AbortController().signal, async (walletIds) => {
      if (isBroken && walletIds.includes(broken)) throw new Error("broken");
      seen.push(...walletIds);
    });
  };
  const failures = database.db.selectFrom("sweep_failures").select(["sweep", "subject"]);
  const count = async () => (await database.db.selectFrom("wallets").select("id").execute()).length;
  await run();
  expect(new Set(seen).size).toBe((await count()) - 1);
  expect(await failures.execute()).toEqual([{ sweep: "wallet-checks", subject: broken }]);
  const { rows } = await database.pool.query<{ id: string }>("select id from ledger_transactions order by id desc limit 1");
  expect([await markOf("recent"), await markOf("round")]).toEqual([rows[0]?.id, nil]);

  // It is tried again although no mark leads to it.
  isBroken = false;
  const last = await database.db.selectFrom("wallets").select("id").orderBy("id", "desc").limit(1).executeTakeFirstOrThrow();
  await database.db.updateTable("ledger_checks").set({ reached: last.id }).where("name", "=", "round").execute();
  await run();
  expect(seen, "not due yet").toEqual([]);
  await database.db.updateTable("ledger_checks").set({ reached: last.id }).where("name", "=", "round").execute();
  await database.db.updateTable("sweep_failures").set({ retry_at: new Date() }).execute();
  await run();
  expect([seen, await failures.execute()]).toEqual([[broken], []]);
});

test("a wallet whose balances can't be recomputed is set aside, and an error while the worker stops is not counted against it", async () => {
  const { walletId } = await createUser(database.db, { credits: 5 });
  await owner.query(`
    alter function ledger_disagreements_in(uuid[]) rename to sound_disagreements_in;
    create function ledger_disagreements_in(wallet_ids uuid[])
      returns table (kind text, id uuid, recorded bigint, rebuilt bigint) language plpgsql security definer as $$
      begin
        if '${walletId}' = any (wallet_ids) then raise exception 'broken'; end if;
        return query select * from sound_disagreements_in(wallet_ids);
      end $$`);
  const failures = database.db.selectFrom("sweep_failures").select("subject");
  const before = database.db.selectFrom("wallets").select("id").where("id", "<", walletId).orderBy("id", "desc").limit(1);
  const { id: reached } = await before.executeTakeFirstOrThrow();
  await database.db.updateTable("ledger_checks").set({ reached }).where("name", "=", "round").execute();
  const stopping = new AbortController();
  stopping.abort();
  await expect(checkBooks({ db: database.db, log, clock }, stopping.signal)).rejects.toThrow("broken");
  expect([await failures.execute(), await markOf("round")]).toEqual([[], reached]);
  await check();
  expect([await failures.execute(), await markOf("round")]).toEqual([[{ subject: walletId }], nil]);
});
