import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Campaign } from "#contract/billing/campaigns.ts";
import type { ModelList } from "#contract/catalogue.ts";
import { findModel, modelsAt } from "#domain/models.ts";
import { stepUpMs } from "#domain/periods.ts";
import { planKeys } from "#domain/plans.ts";
import { createDeps, createLogger } from "#server/deps.ts";
import { tellPause } from "#server/features/catalogue/pauses.ts";
import type { ApiWorld } from "../support/billing-world.ts";
import { startApiWorld } from "../support/billing-world.ts";
import { payerIdOf } from "../support/payers.ts";

let real: ApiWorld;
let sandboxed: ApiWorld;

beforeAll(async () => {
  real = await startApiWorld({ OPENAI_API_KEY: "sk-own" });
  sandboxed = await startApiWorld({ SANDBOX_URL: "http://127.0.0.1:3001", SANDBOX_TOKEN: "token", OPENAI_API_KEY: "sk-own" });
});
afterAll(() => Promise.all([real.close(), sandboxed.close()]));

/** Models without a protocol ended before this catalogue, and nobody serves them. */
const served = ({ id }: { id: string }) => findModel(id)?.protocol !== undefined;

const eligibility = "/api/functions/check-discount-eligibility";

describe("models", () => {
  test("all of the day are listed with their price; those that answer in text and have credentials are available", async () => {
    const response = await real.app.inject("/api/models");
    const listed = response.json().models as { id: string; provider: string; credits: number; available: boolean; sandbox: boolean }[];
    expect(listed.map(({ id, credits }) => [id, credits])).toEqual(modelsAt(real.clock.now()).map(({ id, credits }) => [id, credits]));
    for (const model of listed)
      expect([model.id, model.available, model.sandbox]).toEqual([model.id, model.provider === "openai" && served(model), false]);
  });

  test("those without credentials are served by the sandbox and marked so", async () => {
    const response = await sandboxed.app.inject("/api/models");
    for (const model of response.json().models)
      expect([model.available, model.sandbox]).toEqual([served(model), model.provider !== "openai"]);
  });
});

test("a model that fails for everybody is not listed as available until its next try", async () => {
  const id = "sonar";
  const model = findModel(id) ?? expect.fail("no model");
  const listed = async () =>
    ((await sandboxed.app.inject("/api/models")).json().models as { id: string; available: boolean; pausedSeconds: number | null }[]).find(
      (each) => each.id === id,
    );
  for (let failure = 0; failure < 5; failure += 1) sandboxed.deps.models.report(model, `person ${failure % 2}`, false);
  expect(await listed()).toMatchObject({ available: true, pausedSeconds: null });
  sandboxed.deps.models.report(model, "a third one", false);
  expect(await listed()).toMatchObject({ available: false, pausedSeconds: 10 });
  sandboxed.deps.models.report(model, "a third one", true);
  expect(await listed()).toMatchObject({ available: true, pausedSeconds: null });
});

test("a pause that a worker tells is listed by the API, and ends by itself", async () => {
  const model = findModel("sonar") ?? expect.fail("no model");
  const { config } = sandboxed.deps;
  const worker = createDeps(config, "test", createLogger("silent", "test"));
  for (let failure = 0; failure < 5; failure += 1) worker.models.report(model, `person ${failure}`, false);
  await tellPause(worker, model);
  const listed = async () => (await sandboxed.app.inject("/api/models")).json<ModelList>().models.find(({ id }) => id === model.id);
  await expect.poll(listed).toMatchObject({ available: false, pausedSeconds: expect.any(Number) });
  sandboxed.deps.models.report(model, "somebody", true);
  expect(await listed()).toMatchObject({ available: true, pausedSeconds: null });
  await worker.close();
});

test("/api/environment gives the business time, and the sandbox's address only if the sandbox is on", async () => {
  expect((await real.app.inject("/api/environment")).json()).toEqual({
    sandboxUrl: null,
    google: false,
    notice: null,
    serverTime: real.clock.now().toISOString(),
  });
  expect((await sandboxed.app.inject("/api/environment")).json()).toMatchObject({ sandboxUrl: "http://127.0.0.1:3001/" });
});

describe("discount eligibility", () => {
  const starter = { originalPrice: 1999, discountedPrice: 1599, savings: 400, discountPercentage: 20, discount: 0.2 };

  test("without a campaign nobody is eligible, and every plan has its full price", async () => {
    const answer = (await real.post(eligibility)).json();
    expect(answer.discountEligible).toBe(false);
    expect(Object.keys(answer.pricing)).toEqual([...planKeys]);
    expect(answer.pricing.starter).toEqual({
      ...{ originalPrice: 1999, discountedPrice: 1999, savings: 0, discountPercentage: 0, discount: 0 },
      annual: { originalPrice: 19_190, discountedPrice: 19_190, savings: 0, discountPercentage: 0, discount: 0 },
    });
  });

  test("in the sandbox the discount is 20 % until the first campaign is set, for visitors and people who never paid", async () => {
    const person = await sandboxed.person();
    for (const who of [undefined, person]) {
      const answer = (await sandboxed.post(eligibility, who)).json();
      expect(answer).toMatchObject({ discountEligible: true, pricing: { starter } });
    }
    const now = sandboxed.clock.now();
    const over = { percent: 50, starts_at: new Date(now.getTime() - 2_000), ends_at: now, created_at: now };
    await sandboxed.database.db.insertInto("discount_campaigns").values(over).execute();
    expect((await sandboxed.post(eligibility)).json().discountEligible).toBe(false);
  });

  test("a running campaign sets the percentage, but not for people who have paid before", async () => {
    const { db } = real.database;
    const now = real.clock.now();
    const running = { percent: 15, starts_at: now, ends_at: new Date(now.getTime() + 1_000), created_at: now };
    await db.insertInto("discount_campaigns").values(running).execute();
    const person = await real.person();
    expect((await real.post(eligibility, person)).json().pricing.enterprise.discountPercentage).toBe(15);
    await db
      .insertInto("paid_invoices")
      .values({
        id: "in_paid_once",
        billing_account_id: await payerIdOf(db, person.userId),
        stripe_subscription_id: null,
        stripe_customer_id: "cus_1",
        amount_paid_cents: 1999,
        billing_reason: null,
        paid_at: now,
        recorded_at: now,
      })
      .execute();
    expect((await real.post(eligibility, person)).json()).toMatchObject({
      discountEligible: false,
      pricing: { enterprise: { savings: 0 } },
    });
    await real.database.asOwner("delete from discount_campaigns");
  });

  test("an admin plans and ends campaigns, one at a time; nobody else finds them, and each act is in the audit log", async () => {
    const { db } = real.database;
    const [admin, person] = [await real.person(), await real.person()];
    await db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.userId).execute();
    const path = "/api/admin/campaigns";
    const day = (days: number) => new Date(real.clock.now().getTime() + days * 86_400_000).toISOString();
    const plan = (percent: number, from: number, until: number, who = admin) =>
      real.post(path, who, { percent, startsAt: day(from), endsAt: day(until), reason: "For the autumn" });
    const list = async ({ headers } = admin) =>
      (await real.app.inject({ url: path, headers })).json<{ rows?: Campaign[] }>().rows?.map(({ percent, state }) => [percent, state]);
    const percentNow = async () => (await real.post(eligibility)).json().pricing.starter.discountPercentage;
    for (const response of [
      await plan(30, 0, 2, person),
      await real.post(`${path}/end`, person, { campaignId: person.userId, reason: "To try it" }),
    ])
      expect([response.statusCode, response.json().code]).toEqual([404, "not_found"]);
    expect(await list(person)).toBeUndefined();
    // Begun in the past it begins now. Of two admins at the same moment one succeeds.
    const both = await Promise.all([plan(30, -1, 2), plan(40, 1, 3)]);
    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
    await real.database.asOwner("delete from discount_campaigns");
    const running = (await plan(30, -1, 2)).json<Campaign>();
    expect([running.startsAt, running.state]).toEqual([real.clock.now().toISOString(), "running"]);
    const later = (await plan(25, 2, 3)).json<Campaign>();
    for (const [percent, from, until, status] of [
      [20, 1, 2, 409],
      [20, 5, 4, 409],
      [0, 5, 6, 400],
      [91, 5, 6, 400],
      [12.5, 5, 6, 400],
    ] as const)
      expect((await plan(percent, from, until)).statusCode).toBe(status);
    const read = async (query: string) => (await real.app.inject({ url: `${path}${query}`, headers: admin.headers })).json();
    const { rows: first, nextCursor } = await read("?sort=percent&limit=1");
    expect(first).toMatchObject([{ percent: 30 }]);
    expect((await read(`?sort=percent&limit=1&cursor=${nextCursor}`)).rows).toMatchObject([{ percent: 25 }]);
    expect((await read("?state=planned")).rows).toMatchObject([{ percent: 25 }]);
    expect([await list(), await percentNow()]).toEqual([
      [
        [25, "planned"],
        [30, "running"],
      ],
      30,
    ]);
    real.clock.moveTo(new Date(real.clock.now().getTime() + 1_000));
    const end = async ({ id }: Campaign) =>
      (await real.post(`${path}/end`, admin, { campaignId: id, reason: "It did its work" })).statusCode;
    // If two admins act at the same moment, the second is told, also if the campaign was dropped.
    expect((await Promise.all([end(running), end(running)])).sort()).toEqual([204, 409]);
    expect((await Promise.all([end(later), end(later)])).sort()).toEqual([204, 404]);
    expect([await list(), await percentNow()]).toEqual([[[30, "over"]], 0]);
    const acts = await db
      .selectFrom("audit_events")
      .innerJoin("audit_reasons", "event_id", "id")
      .select(["action", "details", "reason"])
      .where("action", "in", ["campaign.planned", "campaign.ended"])
      .orderBy("id")
      .execute();
    expect(acts.slice(1)).toEqual([
      { action: "campaign.planned", details: { percent: 30, audience: "new" }, reason: "For the autumn" },
      { action: "campaign.planned", details: { percent: 25, audience: "new" }, reason: "For the autumn" },
      { action: "campaign.ended", details: { percent: 30, audience: "new" }, reason: "It did its work" },
      { action: "campaign.ended", details: { percent: 25, audience: "new" }, reason: "It did its work" },
    ]);
    await db
      .updateTable("auth_sessions")
      .set({ proved_at: new Date(Date.now() - stepUpMs - 1_000) })
      .execute();
    expect((await plan(10, 7, 8)).json().code).toBe("step_up_required");
    await real.database.asOwner("delete from discount_campaigns");
  });

  test("an invalid token counts as a visitor; a wrong body is refused", async () => {
    const forged = { userId: "", email: "", headers: { authorization: "Bearer forged" } };
    expect((await real.post(eligibility, forged)).statusCode).toBe(200);
    expect((await real.post(eligibility, undefined, { percent: 90 })).json().code).toBe("validation_failed");
  });
});
