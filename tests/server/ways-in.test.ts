/** Nobody loses their last way to sign in. */
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inTransaction } from "#server/db/transaction.ts";
import { deleteGoogle } from "#server/features/auth/google-queries.ts";
import { refuseLastWay } from "#server/features/auth/ways-in.ts";
import { until } from "#tests/support/until.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(() => product.close());

async function personWithBoth(): Promise<string> {
  const { user } = await product.join();
  const now = new Date();
  const google = { user_id: user.id, kind: "google", subject: user.id, shown_as: user.email, verified_at: now, created_at: now } as const;
  await product.db.insertInto("identities").values(google).execute();
  return user.id;
}

test("of two ways in that are removed at the same moment one stays", async () => {
  const userId = await personWithBoth();
  const begun = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  const first = inTransaction(product.db, async (trx) => {
    await refuseLastWay(trx, userId);
    await deleteGoogle(trx, userId);
    begun.resolve();
    await finished.promise;
  });
  await begun.promise;
  const second = inTransaction(product.db, (trx) => refuseLastWay(trx, userId));
  const outcomes = Promise.allSettled([first, second]);
  await until(async () => {
    const { rows } = await sql<{ waiting: number }>`select count(*)::integer as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(product.db);
    return rows[0]?.waiting === 1;
  }, "the second removal to wait for the first");
  finished.resolve();
  expect(await outcomes).toMatchObject([{ status: "fulfilled" }, { status: "rejected", reason: { code: "last_way_in" } }]);
});
