import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { inTransaction, refuseWithinTransaction } from "#server/db/transaction.ts";
import { createUser } from "#tests/support/people.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it("two transactions that deadlock both commit, because the one that PostgreSQL aborts is run again", async () => {
  const people = await Promise.all([createUser(database.db), createUser(database.db)]);
  let runs = 0;
  const touchBoth = (first: string, second: string) =>
    inTransaction(database.db, async (trx) => {
      runs += 1;
      await sql`update users set language = 'de' where id = ${first}`.execute(trx);
      await sql`select pg_sleep(0.2)`.execute(trx);
      await sql`update users set language = 'ja' where id = ${second}`.execute(trx);
    });
  const [a, b] = people.map((person) => person.userId);
  await Promise.all([touchBoth(a ?? "", b ?? ""), touchBoth(b ?? "", a ?? "")]);
  // At least one was run again; more often if they deadlocked again.
  expect(runs).toBeGreaterThanOrEqual(3);
  const languages = await database.db.selectFrom("users").select("language").execute();
  for (const { language } of languages) expect(["de", "ja"]).toContain(language);
});

it("any other error is thrown at once and rolls back everything", async () => {
  const { userId } = await createUser(database.db);
  let runs = 0;
  const work = inTransaction(database.db, async (trx) => {
    runs += 1;
    await trx.updateTable("users").set({ language: "fr" }).where("id", "=", userId).execute();
    await sql`select 1 / 0`.execute(trx);
  });
  await expect(work).rejects.toMatchObject({ code: "22012" });
  expect(runs).toBe(1);
  expect(await database.db.selectFrom("users").select("language").where("id", "=", userId).executeTakeFirst()).toEqual({ language: "en" });
});

it("a transaction in which another service was called fails and writes nothing, even if the caller ignored the refusal", async () => {
  const { userId } = await createUser(database.db);
  const language = async () =>
    (await database.db.selectFrom("users").select("language").where("id", "=", userId).executeTakeFirst())?.language;
  const before = await language();
  const failing = inTransaction(database.db, async (trx) => {
    await sql`update users set language = 'pl' where id = ${userId}`.execute(trx);
    await Promise.resolve()
      .then(() => refuseWithinTransaction("The mail server"))
      .catch(() => {});
  });
  await expect(failing).rejects.toThrow("The mail server was called within a transaction");
  expect(await language()).toBe(before);
  // What began within a transaction may go on after it.
  const later = await inTransaction(database.db, async () => () => refuseWithinTransaction("The mail server"));
  expect(later).not.toThrow();
});
