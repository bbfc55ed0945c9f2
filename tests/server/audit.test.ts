/** The audit log: every act is written with the act itself, the application can't rewrite it, and a deleted person can't be found in it. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { hash } from "@node-rs/argon2";
import pg from "pg";
import { v7 as uuidv7 } from "uuid";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Session } from "#contract/auth/sign-in.ts";
import { recordAct } from "#server/db/audit.ts";
import { createPool } from "#server/db/database.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { createFirstAdmin } from "#server/embedded/first-admin.ts";
import { applicationRole } from "#server/embedded/postgres.ts";
import { replayDeadLetter, replayDeadLetters } from "#server/queue/replay.ts";
import { createUser } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp, password } from "./auth-support.ts";

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(() => product.close());
beforeEach(async () => {
  await product.asOwner("delete from audit_events", "delete from auth_attempts");
});

const address = "10.8.0.1";
/** What the log keeps of it. */
const network = "10.8.0.0/24";
const post = (call: string, body: object) => product.post(`/api/auth/${call}`, body, { remoteAddress: address });

/** The events written since the test began, with the people's ids instead of the log's own. */
async function events() {
  const { db } = product;
  const rows = await db
    .selectFrom("audit_events")
    .leftJoin("audit_people as actors", "actors.id", "audit_events.actor")
    .leftJoin("audit_people as subjects", "subjects.id", "audit_events.subject")
    .leftJoin("audit_origins", "audit_origins.event_id", "audit_events.id")
    .select(["actors.user_id as actor", "subjects.user_id as subject", "action", "details", "network"])
    .orderBy("audit_events.id")
    .execute();
  return rows;
}

test("a confirmed sign-up, a sign-in and the end of a session are written, with who did it and from which network", async () => {
  const session = await product.join("ada@example.com", address);
  const id = session.user.id;
  const again = (await post("sign-in", { email: "ada@example.com", password })).json<Session>();
  await post("sign-out", { refresh_token: again.refresh_token });
  await post("sign-out", { refresh_token: again.refresh_token });
  await post("sign-out", { refresh_token: "nothing of ours" });
  const own = { actor: id, subject: id, network };
  expect(await events()).toEqual([
    { ...own, action: "sign_up.confirmed", details: {} },
    { ...own, action: "sign_in.completed", details: { factor: "confirmation_link" } },
    { ...own, action: "sign_in.completed", details: { factor: "password" } },
    { ...own, action: "session.ended", details: { reason: "signed_out" } },
  ]);
});

test("a session that ends because its refresh token was used twice is written, by nobody known", async () => {
  const session = await product.join("reused@example.com", address);
  const next = (await post("refresh", { refresh_token: session.refresh_token })).json<Session>();
  expect((await product.get("/api/account", next.access_token)).statusCode).toBe(200);
  await product.db
    .updateTable("auth_sessions")
    .set({ rotated_at: new Date(0) })
    .where("user_id", "=", session.user.id)
    .execute();
  await post("refresh", { refresh_token: session.refresh_token });
  expect((await events()).at(-1)).toEqual({
    ...{ actor: null, subject: session.user.id, network },
    ...{ action: "session.ended", details: { reason: "token_reused" } },
  });
});

test("of wrong passwords the one that brings a wait is written, of an unknown address without naming anybody", async () => {
  const { userId } = await createUser(product.db, { email: "guessed@example.com", passwordHash: await hash(password) });
  for (const email of ["guessed@example.com", "nobody@example.com"])
    for (let round = 0; round < 6; round += 1) await post("sign-in", { email, password: "wrong pass 1" });
  const blocked = { actor: null, action: "sign_in.blocked", details: { limits: ["guess"] } };
  expect(await events()).toEqual([
    { ...blocked, subject: userId, network },
    { ...blocked, subject: null, network: null },
  ]);
  // A right password on the last try brings no wait.
  await product.asOwner("delete from audit_events", "delete from auth_attempts");
  for (let round = 0; round < 4; round += 1) await post("sign-in", { email: "guessed@example.com", password: "wrong pass 1" });
  await post("sign-in", { email: "guessed@example.com", password });
  expect((await events()).map(({ action }) => action)).toEqual(["sign_in.completed"]);
});

test("an admin's role is written when it is given, by ADMIN_EMAILS or at the first start, and not again", async () => {
  const session = await product.join("owner@example.com", address);
  await post("sign-in", { email: "owner@example.com", password });
  const granted = (await events()).filter(({ action }) => action === "role.granted");
  const event = { actor: null, action: "role.granted", network: null };
  expect(granted).toEqual([{ ...event, subject: session.user.id, details: { role: "admin", because: "named_in_admin_emails" } }]);

  await product.asOwner("delete from audit_events");
  const dataDir = await mkdtemp(path.join(tmpdir(), "tessera-audit-"));
  try {
    for (let start = 0; start < 2; start += 1)
      await createFirstAdmin(product.config.databaseUrl, "first@example.com", "the first pass 1", dataDir);
  } finally {
    await rm(dataDir, { recursive: true });
  }
  const admin = (await post("sign-in", { email: "first@example.com", password: "the first pass 1" })).json<Session>();
  expect((await events())[0]).toEqual({ ...event, subject: admin.user.id, details: { role: "admin", because: "first_start" } });
  expect(await events()).toHaveLength(2);
});

test("each dead letter that is put back is written, once", async () => {
  const ids = [uuidv7(), uuidv7()];
  const letter = { job: "send-mail", payload: "{}", error: "no", attempts: 10, replayed_at: null };
  await product.db
    .insertInto("dead_letters")
    .values(ids.map((id) => ({ ...letter, id })))
    .execute();
  await replayDeadLetter(product.db, ids[0] ?? "");
  await replayDeadLetters(product.db, "send-mail");
  await replayDeadLetters(product.db, "send-mail");
  const event = { actor: null, subject: null, network: null, action: "dead_letter.replayed" };
  expect(await events()).toEqual(ids.map((deadLetterId) => ({ ...event, details: { deadLetterId, job: "send-mail" } })));
});

test("the log keeps networks and not addresses, also of events that were written before", async () => {
  const { userId } = await createUser(product.db);
  const addresses = ["203.0.113.77", "2001:db8:1:2::/64", "not an address"];
  for (const each of addresses)
    await recordAct(product.db, { actor: userId, subject: userId, action: "sign_up.confirmed", network: each, details: {} });
  const short = ["203.0.113.0/24", "2001:db8:1::/48", "not an address"];
  expect((await events()).map(({ network: kept }) => kept)).toEqual(short);
  for (const [index, each] of addresses.entries())
    await product.asOwner(`update audit_origins set network = '${each}' where network = '${short[index]}'`);
  const migration = await readFile(new URL("../../migrations/0100_short_networks.up.sql", import.meta.url), "utf8");
  await product.asOwner(/^update audit_origins .*;$/m.exec(migration)?.[0] ?? "");
  expect((await events()).map(({ network: kept }) => kept)).toEqual(short);
});

test("an act that is taken back leaves no event", async () => {
  const { userId } = await createUser(product.db);
  const failing = inTransaction(product.db, async (trx) => {
    await recordAct(trx, { actor: userId, subject: userId, action: "sign_up.confirmed", network, details: {} });
    throw new Error("taken back");
  });
  await expect(failing).rejects.toThrow("taken back");
  expect(await events()).toEqual([]);
});

async function expectWrittenByItsFunctionAlone(email: string): Promise<void> {
  await product.join(email, address);
  const before = await events();
  const pool = createPool(product.config.databaseUrl, 1, "tessera test");
  try {
    for (const table of ["audit_events", "audit_people", "audit_origins"]) {
      const column = table === "audit_events" ? "action" : "user_id";
      for (const statement of [
        `update ${table} set ${column} = ${column}`,
        `delete from ${table}`,
        `truncate ${table} cascade`,
        `insert into ${table} default values`,
      ])
        await expect(pool.query(statement), statement).rejects.toMatchObject({ code: "42501" });
    }
    await expect(pool.query("select audit_person(uuidv7())")).rejects.toMatchObject({ code: "42501" });
  } finally {
    await pool.end();
  }
  expect(await events()).toEqual(before);
}

test("the application's role can't change, delete or backdate an event, and writes one only by its function", () =>
  expectWrittenByItsFunctionAlone("kept@example.com"));

test.each(["update", "delete", "insert"])("which is noticed: a planted bug gives the application's role the right to %s", async (right) => {
  await product.asOwner(`grant ${right} on audit_events to ${applicationRole}`);
  await expect(expectWrittenByItsFunctionAlone(`${right}@example.com`)).rejects.toMatchObject({ name: "AssertionError" });
  await product.asOwner(`revoke ${right} on audit_events from ${applicationRole}`);
});

test("a deleted person can't be found in the log, whose events stay", async () => {
  const session = await product.join("gone@example.com", address);
  await product.join("stays@example.com", "10.9.0.2");
  const before = await events();
  await product.asOwner(`delete from users where id = '${session.user.id}'`);
  const after = await events();
  expect(after.map(({ action }) => action)).toEqual(before.map(({ action }) => action));
  expect(after.filter(({ subject }) => subject === null)).toEqual(
    before.filter(({ subject }) => subject === session.user.id).map((event) => ({ ...event, actor: null, subject: null, network: null })),
  );
  const tables = ["audit_events", "audit_people", "audit_origins"] as const;
  const text = JSON.stringify(await Promise.all(tables.map((table) => product.db.selectFrom(table).selectAll().execute())));
  for (const trace of [session.user.id, "gone@example.com", `"${network}"`]) expect(text).not.toContain(trace);
  expect(text).toContain("10.9.0.0/24");
});

test("writing an event reads no more of the database when the log is long", async () => {
  const { userId } = await createUser(product.db);
  const client = new pg.Client({ connectionString: product.config.databaseUrl });
  await client.connect();
  const pagesTouched = async () => {
    const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Record<string, number> }] }>(
      "explain (analyze, buffers, format json) select audit_record($1, $1, 'session.ended', '10.8.0.1', '{}')",
      [userId],
    );
    const plan = rows[0]?.["QUERY PLAN"][0].Plan ?? {};
    return (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
  };
  try {
    await pagesTouched();
    const short = await pagesTouched();
    await product.asOwner(
      `insert into audit_events (at, subject, action, details)
         select now() - n * interval '1 second', gen_random_uuid(), 'session.ended', '{}' from generate_series(1, 50000) n`,
    );
    // PostgreSQL plans again after that, and reads catalogs for it.
    await pagesTouched();
    // A level more in each index, and the split of a page: nothing like the thousand pages the log has now.
    expect(await pagesTouched()).toBeLessThan(short + 30);
  } finally {
    await client.end();
  }
});
