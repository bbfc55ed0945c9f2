/** Admins plan prices of models: from a day to come on, never below the costs, with a preview of what changes; answers keep the price they were sold at. */
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AdminModel, PricePreview } from "#contract/admin/models.ts";
import type { AuditRow } from "#contract/admin/team.ts";
import type { ModelList } from "#contract/catalogue.ts";
import { createDeps, createLogger } from "#server/deps.ts";
import { changedPrices } from "#server/features/catalogue/service.ts";
import { followSwitches } from "#server/features/catalogue/switches.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { RunningModels } from "#tests/support/answers.ts";
import { ask, send, startModels } from "#tests/support/answers.ts";
import type { ApiWorld } from "#tests/support/billing-world.ts";
import { startApiWorld } from "#tests/support/billing-world.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";

let answering: RunningModels;
let world: ApiWorld;
let running: { url: string };
let admin: TestPerson;
let support: TestPerson;

async function personAs(role: "admin" | "support"): Promise<TestPerson> {
  const person = await createPerson(world, world.database.db);
  await world.database.db.updateTable("users").set({ role }).where("id", "=", person.userId).execute();
  return person;
}

beforeAll(async () => {
  answering = await startModels({ now: () => world.clock.now() });
  const settings = { SANDBOX_URL: answering.url, SANDBOX_TOKEN: "token-of-the-tests" };
  world = await startApiWorld(settings, new Date("2026-11-23T09:00:00Z"));
  await world.app.listen({ host: "127.0.0.1", port: 0 });
  running = { url: `http://127.0.0.1:${(world.app.server.address() as AddressInfo).port}` };
  [admin, support] = [await personAs("admin"), await personAs("support")];
});
afterAll(async () => {
  expect(await findDisagreements(world.deps.db)).toEqual([]);
  await world.close();
  await answering.close();
});

const call = (method: "GET" | "POST", url: string, { token }: TestPerson, payload?: object) =>
  world.app.inject({ method, url: `/api/admin/${url}`, headers: { authorization: `Bearer ${token}` }, ...(payload && { payload }) });
const plan = (clerk: TestPerson, id: string, price: object) =>
  call("POST", `models/${id}/prices`, clerk, { credits: 6, beginsOn: "2026-11-25", reason: "The provider is dearer", ...price });
const drop = (clerk: TestPerson, id: string, beginsOn: string, credits: number) =>
  call("POST", `models/${id}/prices/drop`, clerk, { beginsOn, credits, reason: "Not after all" });
const row = async (id: string) =>
  (await call("GET", "models", admin)).json<{ rows: AdminModel[] }>().rows.find((model) => model.id === id) ?? expect.fail(`no ${id}`);
const listed = async (id: string) => (await world.app.inject("/api/models")).json<ModelList>().models.find((model) => model.id === id);
const latest = async () => (await call("GET", "audit?limit=1", admin)).json<{ rows: AuditRow[] }>().rows[0];
const soldAt = async () =>
  world.database.db
    .selectFrom("generations")
    .select(["quoted_credits", "price_version"])
    .where("model_id", "=", "grok-4.6")
    .orderBy("asked_at")
    .execute();

test("a planned price counts from its day on, on every process, and names its version; what was sold before stays as it was sold", async () => {
  const person = await createPerson(world, world.database.db, { credits: 100, plan: "starter" });
  expect((await ask(running as never, person, { model: "grok-4.6", quotedCredits: 5 })).receipt).toMatchObject({ chargedCredits: 5 });
  expect((await plan(admin, "grok-4.6", {})).json()).toMatchObject({
    ...{ credits: 5, priceVersion: "2026-11" },
    prices: [
      { beginsOn: null, credits: 5, state: "now" },
      { beginsOn: "2026-11-25", credits: 6, state: "planned" },
    ],
  });
  const details = { model: "grok-4.6", credits: 6, beginsOn: "2026-11-25" };
  expect(await latest()).toMatchObject({ action: "model.price_planned", details, reason: "The provider is dearer", actorId: admin.userId });
  // People see it ahead.
  expect(await listed("grok-4.6")).toMatchObject({ credits: 5, nextPrice: { beginsOn: "2026-11-25", credits: 6 } });

  world.clock.moveTo(new Date("2026-11-24T23:59:59Z"));
  expect((await ask(running as never, person, { model: "grok-4.6", quotedCredits: 5 })).receipt).toMatchObject({ chargedCredits: 5 });
  expect(changedPrices(world.deps)).toEqual({});
  world.clock.moveTo(new Date("2026-11-25T00:00:00Z"));
  const late = await send(running as never, person, { model: "grok-4.6", quotedCredits: 5 });
  expect([late.status, await late.json()]).toMatchObject([409, { code: "price_changed", quotedCredits: 6 }]);
  expect((await ask(running as never, person, { model: "grok-4.6", quotedCredits: 6 })).receipt).toMatchObject({ chargedCredits: 6 });
  expect(await listed("grok-4.6")).toMatchObject({ credits: 6 });
  expect((await listed("grok-4.6"))?.nextPrice).toBeUndefined();
  expect(await row("grok-4.6")).toMatchObject({ credits: 6, priceVersion: "2026-11-25" });
  expect(changedPrices(world.deps)).toEqual({ "grok-4.6": 6 });
  expect(await soldAt()).toEqual([
    { quoted_credits: 5, price_version: "2026-11" },
    { quoted_credits: 5, price_version: "2026-11" },
    { quoted_credits: 6, price_version: "2026-11-25" },
  ]);

  const elsewhere = createDeps(world.deps.config, "test", createLogger("silent", "test"));
  (await followSwitches(elsewhere))();
  expect(elsewhere.switches.pricesOf("grok-4.6")).toMatchObject([{ beginsOn: "2026-11-25", credits: 6 }]);
  await elsewhere.close();
});

test("never in the past: a price begins on a day that has not begun, the database refuses others, and one that has begun is not dropped", async () => {
  for (const beginsOn of ["2020-01-01", "2026-11-24", "2026-11-25"])
    expect((await plan(admin, "sonar", { beginsOn })).json().code, beginsOn).toBe("conflict");
  const past = { model_id: "sonar", begins_on: "2026-11-25", credits: 3, planned_at: world.clock.now() };
  await expect(world.database.db.insertInto("model_prices").values(past).execute()).rejects.toThrow("model_prices_check");
  expect((await drop(admin, "grok-4.6", "2026-11-25", 6)).statusCode).toBe(404);
  expect((await plan(admin, "sonar", { credits: 3, beginsOn: "2026-11-26" })).statusCode).toBe(200);
  // If two admins act, the second is told.
  expect((await plan(admin, "sonar", { credits: 4, beginsOn: "2026-11-26" })).json().code).toBe("conflict");
  expect((await drop(admin, "sonar", "2026-11-26", 4)).json().code).toBe("conflict");
  expect((await drop(admin, "sonar", "2026-11-26", 3)).json()).toMatchObject({ prices: [{ credits: 2, state: "now" }] });
  expect(await latest()).toMatchObject({ action: "model.price_dropped", details: { model: "sonar", credits: 3, beginsOn: "2026-11-26" } });
});

test("a price covers the dearest answer; the preview says whom it concerns; support only looks", async () => {
  const { leastCredits } = await row("gpt-6.1-sol");
  expect(leastCredits).toBeGreaterThan(1);
  expect((await plan(admin, "gpt-6.1-sol", { credits: leastCredits - 1, beginsOn: "2026-12-01" })).json()).toMatchObject({
    code: "price_below_cost",
    least: leastCredits,
  });
  for (const credits of [0, 501, 1.5]) expect((await plan(admin, "gpt-6.1-sol", { credits, beginsOn: "2026-12-01" })).statusCode).toBe(400);
  expect((await plan(admin, "no-such-model", { beginsOn: "2026-12-01" })).statusCode).toBe(404);
  expect((await plan(support, "sonar", { beginsOn: "2026-12-01" })).statusCode).toBe(404);

  await world.database.asOwner("delete from daily_answers where model_id = 'grok-4.6'");
  const sums = { completed: 3, stopped: 1, failed: 2, credits: 20, sold_credits: 20, cost_micro_dollars: 1, uncosted: 0 };
  await world.database.db
    .insertInto("daily_answers")
    .values({ day: "2026-11-24", model_id: "grok-4.6", ...sums })
    .execute();
  const preview = (await call("GET", "models/grok-4.6/price-preview?credits=9", support)).json<PricePreview>();
  expect(preview).toEqual({ days: 30, accounts: 1, hasMoreAccounts: false, answers: 4, credits: 20, creditsThen: 30 });
});
