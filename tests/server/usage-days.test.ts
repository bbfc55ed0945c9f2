/** The sums behind the usage charts: that they are those of the receipts, whatever happens, and what reading them costs. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Usage, UsageRange } from "#contract/credits/usage.ts";
import { addMilliseconds, dayMs, hourMs } from "#domain/clock.ts";
import { grantKinds } from "#domain/credits.ts";
import { priceVersion } from "#domain/pricing.ts";
import { readUsage } from "#server/features/credits/usage.ts";
import { createAnswerBatches } from "#server/features/generations/batches.ts";
import { seededRandom } from "#tests/support/ledger-model.ts";
import { payerIdOf } from "#tests/support/payers.ts";
import { createPerson, createUser } from "#tests/support/people.ts";
import { historyModels } from "#tests/support/random-history.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let product: AuthApp;
let answers: ReturnType<typeof createAnswerBatches>;
beforeAll(async () => {
  product = await createAuthApp();
  answers = createAnswerBatches(product.db);
});
afterAll(() => product.close());

interface Answer {
  modelId: string;
  quoted: number;
  charged: number;
}

/** An answer from its hold to its receipt, as the product writes it; `charged` 0 is one that failed. */
async function answer(userId: string, { modelId, quoted, charged }: Answer, now: Date): Promise<void> {
  const [id, owner] = [randomUUID(), randomUUID()];
  const { outcome } = await answers.start({
    ...{ id, userId, modelId, idempotencyKey: id, requestHash: Buffer.from(id), credits: quoted, priceVersion, now, owner },
    ...{ requestsPerMinute: 10_000, concurrentAnswers: 10_000, leaseMs: 60_000, holdMs: 60_000 },
    ...{ kinds: grantKinds, refused: false, holdId: null, trimmedMessages: 0 },
    turn: {
      ...{ conversationId: randomUUID(), isNew: true, title: "A tessera", parentId: null },
      ...{ questionId: randomUUID(), answerId: randomUUID(), prompt: "What is a tessera?" },
    },
  });
  expect(outcome).toBe("created");
  const status = charged > 0 ? ("completed" as const) : ("failed" as const);
  const end = { id, userId, owner, status, failureCode: null, cutShort: false, chargedCredits: charged, now, kinds: grantKinds };
  const counts = { promptTokens: 1, completionTokens: 1, costMicroDollars: 1, lastFrames: undefined };
  await answers.end({ ...end, ...counts, parts: [] });
  // A second process that takes the answer for unfinished changes nothing.
  await answers.end({ ...end, ...counts, parts: [] });
}

type Sum = [start: string, modelId: string, answers: number, credits: number];

/** From the receipts, without SQL's sums. */
async function rebuild(userId: string, range: UsageRange, now: Date): Promise<Sum[]> {
  const rows = await product.db
    .selectFrom("generations")
    .select(["model_id", "charged_credits", "ended_at"])
    .where("payer_id", "=", await payerIdOf(product.db, userId))
    .execute();
  const today = now.toISOString().slice(0, 10);
  const earliest = {
    "7d": addMilliseconds(now, -6 * dayMs),
    "30d": addMilliseconds(now, -29 * dayMs),
    "90d": addMilliseconds(now, -89 * dayMs),
    "12m": new Date(
      `${now.getUTCFullYear() - (now.getUTCMonth() < 11 ? 1 : 0)}-${String(((now.getUTCMonth() + 1) % 12) + 1).padStart(2, "0")}-01`,
    ),
  }[range];
  const first = earliest.toISOString().slice(0, 10);
  const sums = new Map<string, Sum>();
  for (const { model_id: model, charged_credits: credits, ended_at: endedAt } of rows) {
    const day = endedAt?.toISOString().slice(0, 10) ?? "";
    if (!credits || day < first || day > today) continue;
    const start = range === "12m" ? `${day.slice(0, 7)}-01` : day;
    const sum = sums.get(`${start} ${model}`) ?? [start, model, 0, 0];
    sums.set(`${start} ${model}`, [start, model, sum[2] + 1, sum[3] + credits]);
  }
  return [...sums.values()].sort((one, other) => (`${one[0]} ${one[1]}` < `${other[0]} ${other[1]}` ? -1 : 1));
}

const told = ({ sums }: Usage) => sums.map(({ start, modelId, answers: count, credits }): Sum => [start, modelId, count, credits]);

it("are those of the receipts in every range, over the year's end, at midnight in UTC, and after they are made anew", async () => {
  const seed = Math.floor(Date.now() / 1000) % 1_000_000;
  const random = seededRandom(seed);
  const { userId } = await createUser(product.db, { credits: 10_000 });
  const other = await createUser(product.db, { credits: 100 });
  await answer(other.userId, { modelId: "gpt-5", quoted: 5, charged: 5 }, new Date("2026-03-01T00:00:00Z"));
  let now = new Date("2025-03-30T23:59:59.999Z");
  for (let step = 0; step < 90; step += 1) {
    const modelId = historyModels[random(historyModels.length)] ?? "gpt-5";
    const quoted = 1 + random(12);
    await answer(userId, { modelId, quoted, charged: random(4) === 0 ? 0 : quoted }, now);
    // Often at the next midnight exactly, or a millisecond before it.
    const midnight = Math.ceil((now.getTime() + 1) / dayMs) * dayMs;
    now = random(3) === 0 ? new Date(midnight - random(2)) : addMilliseconds(now, random(9 * 24) * hourMs);
  }
  const compare = async () => {
    for (const range of ["7d", "30d", "90d", "12m"] as const)
      for (const at of [now, addMilliseconds(now, -40 * dayMs), new Date("2026-01-01T00:00:00Z"), new Date("2025-12-31T23:59:59Z")])
        expect(told(await readUsage(product.db, userId, range, at)), `seed ${seed}, ${range} at ${at.toISOString()}`).toEqual(
          await rebuild(userId, range, at),
        );
  };
  await compare();
  expect((await rebuild(userId, "12m", now)).length).toBeGreaterThan(10);
  const payerId = await payerIdOf(product.db, userId);
  const { rows: last } = await sql`select model_id, last_day from model_accounts where billing_account_id = ${payerId}
    except select model_id, max(day) from usage_days where billing_account_id = ${payerId} group by 1`.execute(product.db);
  expect(last, `seed ${seed}`).toEqual([]);
  await product.asOwner(
    `update usage_days set credits = credits + 1 where billing_account_id = '${payerId}'`,
    `delete from usage_days where billing_account_id = '${payerId}' and model_id = 'gpt-5'`,
  );
  await expect(compare()).rejects.toThrow(/seed/);
  await product.asOwner(`select usage_rebuild('${payerId}')`);
  await compare();
});

it("count answers that end at the same moment once each", async () => {
  const { userId } = await createUser(product.db, { credits: 100 });
  const now = new Date();
  await Promise.all(Array.from({ length: 20 }, () => answer(userId, { modelId: "gpt-5", quoted: 2, charged: 2 }, now)));
  expect(told(await readUsage(product.db, userId, "7d", now))).toEqual([[now.toISOString().slice(0, 10), "gpt-5", 20, 40]]);
});

it("are only the account's own, need a sign-in and a range, and can't be written by the application", async () => {
  const [ada, eve] = [await createPerson(product, product.db), await createPerson(product, product.db)];
  await answer(ada.userId, { modelId: "gpt-5", quoted: 5, charged: 5 }, product.deps.clock.now());
  const ask = async (token: string) => (await product.get("/api/credits/usage?range=30d", token)).json<Usage>();
  expect((await ask(ada.token)).sums).toMatchObject([{ modelId: "gpt-5", answers: 1, credits: 5 }]);
  expect((await ask(eve.token)).sums).toEqual([]);
  expect((await product.app.inject({ method: "GET", url: "/api/credits/usage?range=30d" })).statusCode).toBe(401);
  for (const query of ["", "?range=1y", "?range=30d&more=1"])
    expect((await product.get(`/api/credits/usage${query}`, ada.token)).statusCode, query).toBe(400);
  for (const statement of [
    "update usage_days set credits = 1",
    "delete from usage_days",
    "update model_accounts set last_day = now()",
    `select usage_rebuild('${randomUUID()}')`,
  ])
    await expect(sql.raw(statement).execute(product.db), statement).rejects.toMatchObject({ code: "42501" });
});

it("are read by the account's own index, and only the days asked for", async () => {
  const { userId } = await createUser(product.db);
  await product.asOwner(
    `insert into usage_days (billing_account_id, day, model_id, answers, credits)
       select a.id, date '2026-03-10' - n, 'gpt-5', 1, 5 from billing_accounts a, generate_series(0, 3000) n on conflict do nothing`,
    "analyze usage_days",
  );
  const now = new Date("2026-03-10T12:00:00Z");
  const fetched = await product.db.transaction().execute(async (trx) => {
    const count = async () => {
      const { rows } = await sql<{ fetched: number }>`select (seq_tup_read + idx_tup_fetch)::integer as fetched
        from pg_stat_xact_user_tables where relname = 'usage_days'`.execute(trx);
      return rows[0]?.fetched ?? 0;
    };
    const before = await count();
    expect((await readUsage(trx, userId, "90d", now)).sums).toHaveLength(90);
    return (await count()) - before;
  });
  expect(fetched).toBeLessThanOrEqual(90);
});
