/** Admins switch models off and on in the panel: for everybody and on every process, with a reason on the audit log. */
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { AdminModel, SwitchModel } from "#contract/admin/models.ts";
import type { AuditRow } from "#contract/admin/team.ts";
import type { ModelList } from "#contract/catalogue.ts";
import { hourMs } from "#domain/clock.ts";
import { createDeps, createLogger } from "#server/deps.ts";
import { followPauses } from "#server/features/catalogue/pauses.ts";
import { listModels, switchedOff } from "#server/features/catalogue/service.ts";
import { followSwitches } from "#server/features/catalogue/switches.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { recordFinding } from "#server/features/findings/service.ts";
import type { RunningModels } from "#tests/support/answers.ts";
import { ask, send, startModels } from "#tests/support/answers.ts";
import type { ApiWorld } from "#tests/support/billing-world.ts";
import { startApiWorld } from "#tests/support/billing-world.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";

const start = new Date("2026-11-23T09:00:00Z");
let answering: RunningModels;
let world: ApiWorld;
let process: { url: string };
let admin: TestPerson;
let other: TestPerson;

async function personAs(role: "admin" | "support"): Promise<TestPerson> {
  const person = await createPerson(world, world.database.db);
  await world.database.db.updateTable("users").set({ role }).where("id", "=", person.userId).execute();
  return person;
}

beforeAll(async () => {
  answering = await startModels({ now: () => world.clock.now() });
  world = await startApiWorld({ SANDBOX_URL: answering.url, SANDBOX_TOKEN: "token-of-the-tests" }, start);
  await world.app.listen({ host: "127.0.0.1", port: 0 });
  process = { url: `http://127.0.0.1:${(world.app.server.address() as AddressInfo).port}` };
  [admin, other] = [await personAs("admin"), await personAs("admin")];
});
afterAll(async () => {
  expect(await findDisagreements(world.deps.db)).toEqual([]);
  await world.close();
  await answering.close();
});
afterEach(() => {
  answering.pace.milliseconds = 0;
});

const call = (method: "GET" | "PUT", url: string, { token }: TestPerson, payload?: object) =>
  world.app.inject({ method, url: `/api/admin/${url}`, headers: { authorization: `Bearer ${token}` }, ...(payload && { payload }) });
const rows = async (query = "") => (await call("GET", `models${query}`, admin)).json<{ rows: AdminModel[] }>().rows;
const row = async (id: string) => (await rows()).find((model) => model.id === id) ?? expect.fail(`no ${id}`);
const put = (clerk: TestPerson, id: string, change: Partial<SwitchModel>) =>
  call("PUT", `models/${id}/switch`, clerk, { off: true, texts: {}, version: 0, reason: "The provider answers nonsense", ...change });
const listed = async (id: string) =>
  (await world.app.inject("/api/models")).json<ModelList>().models.find((model) => model.id === id) ?? expect.fail(`no ${id}`);
const latest = async () => (await call("GET", "audit?limit=1", admin)).json<{ rows: AuditRow[] }>().rows[0];

test("a switched-off model is offered to nobody, with the words of the team, at no charge; it is on the audit log, and comes back", async () => {
  const texts = { en: "Back on Monday", de: "Am Montag wieder da", fr: " " };
  const answer = await put(admin, "gpt-6-luna", { texts });
  expect(answer.json()).toMatchObject({
    state: "off",
    offBy: "admin",
    version: 1,
    texts: { en: "Back on Monday", de: "Am Montag wieder da" },
  });
  expect(await listed("gpt-6-luna")).toMatchObject({
    available: false,
    switchedOff: { texts: { en: "Back on Monday", de: "Am Montag wieder da" } },
  });
  expect(switchedOff(world.deps)).toEqual(["gpt-6-luna"]);
  expect(await latest()).toMatchObject({
    ...{ action: "model.switched_off", details: { model: "gpt-6-luna" }, reason: "The provider answers nonsense", actorId: admin.userId },
  });
  const person = await createPerson(world, world.database.db, { credits: 10, plan: "starter" });
  const refused = await send(process as never, person, { model: "gpt-6-luna", quotedCredits: 1 });
  expect([refused.status, await refused.json()]).toMatchObject([503, { code: "model_unavailable" }]);

  expect((await put(admin, "gpt-6-luna", { off: false, version: 1, reason: "It answers again" })).json()).toMatchObject({
    state: "offered",
    version: 2,
  });
  expect(await latest()).toMatchObject({ action: "model.switched_on", details: { model: "gpt-6-luna" } });
  expect((await listed("gpt-6-luna")).switchedOff).toBeUndefined();
  expect((await ask(process as never, person, { model: "gpt-6-luna", quotedCredits: 1 })).receipt).toMatchObject({ chargedCredits: 1 });
});

test("an answer that runs when its model is switched off ends normally, and is charged as agreed", async () => {
  const person = await createPerson(world, world.database.db, { credits: 10, plan: "starter" });
  answering.pace.milliseconds = 30;
  const asked = ask(process as never, person, { model: "claude-haiku-5-5", quotedCredits: 1 });
  await expect
    .poll(() => world.database.db.selectFrom("generations").select("id").where("status", "=", "streaming").execute())
    .toHaveLength(1);
  expect((await put(admin, "claude-haiku-5-5", {})).statusCode).toBe(200);
  answering.pace.milliseconds = 0;
  expect((await asked).receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
  await put(admin, "claude-haiku-5-5", { off: false, version: 1 });
});

test("every process follows within seconds, and one that starts later knows it; a conversation's model that ended has no successor that is off", async () => {
  const elsewhere = createDeps(world.deps.config, "test", createLogger("silent", "test"));
  const stop = await followSwitches(elsewhere);
  const stopPauses = followPauses(elsewhere);
  await put(admin, "gpt-6.1-sol", {});
  await expect.poll(() => elsewhere.switches.find("gpt-6.1-sol")).toMatchObject({ off: true, version: 1 });
  expect(listModels({ ...world.deps, switches: elsewhere.switches }).models.find(({ id }) => id === "gpt-6.1-sol")).toMatchObject({
    available: false,
  });
  stop();
  stopPauses();
  await elsewhere.close();
  const later = createDeps(world.deps.config, "test", createLogger("silent", "test"));
  (await followSwitches(later))();
  expect(later.switches.find("gpt-6.1-sol")).toMatchObject({ off: true });
  await later.close();

  world.clock.moveTo(new Date("2026-12-11T00:00:00Z"));
  const person = await createPerson(world, world.database.db, { credits: 10, plan: "starter" });
  const refused = async () =>
    (await (await send(process as never, person, { model: "gpt-5", quotedCredits: 5 })).json()) as { successor?: string };
  expect(await refused()).toMatchObject({ code: "model_retired" });
  expect((await refused()).successor).toBeUndefined();
  await put(admin, "gpt-6.1-sol", { off: false, version: 1 });
  expect((await refused()).successor).toBe("gpt-6.1-sol");
});

test("of two admins the second is told and changes nothing; a factor, a reason and an existing model are needed; support only looks", async () => {
  expect((await put(admin, "sonar", { texts: { en: "First" } })).statusCode).toBe(200);
  for (const version of [0, 2]) {
    const late = await put(other, "sonar", { off: false, version });
    expect([late.statusCode, late.json().code]).toEqual([409, "conflict"]);
  }
  expect(await row("sonar")).toMatchObject({ version: 1, texts: { en: "First" } });
  expect((await put(other, "sonar", { off: false, version: 1 })).statusCode).toBe(200);
  expect((await put(admin, "deepseek-flash", { version: 1 })).statusCode).toBe(409);
  expect((await put(admin, "no-such-model", {})).statusCode).toBe(404);
  expect((await put(admin, "sonar", { reason: "" })).statusCode).toBe(400);
  expect((await put(admin, "sonar", { texts: { xx: "No language" } as object })).statusCode).toBe(400);
  const support = await personAs("support");
  expect((await call("GET", "models", support)).json<{ rows: AdminModel[] }>().rows.length).toBeGreaterThan(15);
  expect((await put(support, "sonar", {})).statusCode).toBe(404);
  const stale = new Date(Date.now() - hourMs);
  await world.database.db.updateTable("auth_sessions").set({ proved_at: stale }).where("user_id", "=", other.userId).execute();
  expect((await put(other, "sonar", { version: 2 })).json().code).toBe("step_up_required");
});

test("the list says of each model what it is, how it answers, and what the check of its provider's list found; it is sorted, filtered and a CSV", async () => {
  const today = world.clock.now().toISOString().slice(0, 10);
  const sums = { completed: 3, stopped: 1, failed: 2, credits: 9, sold_credits: 9, cost_micro_dollars: 1, uncosted: 0 };
  await world.database.asOwner(`delete from daily_answers where model_id = 'grok-4.6'`);
  await world.database.db
    .insertInto("daily_answers")
    .values({ day: today, model_id: "grok-4.6", ...sums })
    .execute();
  const details = { provider: "xai", upstreamModel: "grok-4.6", until: null, shutdownDate: null };
  await recordFinding(world.deps.db, { kind: "model_gone", subject: "grok-4.6", payerId: null, details }, null, world.clock.now());
  expect(await row("grok-4.6")).toMatchObject({
    ...{ state: "offered", provider: "xai", credits: 5, unit: "answer", priceVersion: "2026-11", version: 0, offBy: null, sandbox: true },
    ...{ today: { answers: 6, failed: 2 }, finding: "model_gone", upstreamModel: "grok-4.6", from: "2026-11-22", until: null },
  });
  expect(await row("whisper-1")).toMatchObject({ state: "offered", until: "2027-02-26", successor: "gpt-transcribe" });
  expect(await row("dall-e-3")).toMatchObject({ state: "retired" });
  expect((await rows("?sort=failed"))[0]?.id).toBe("grok-4.6");
  expect((await rows("?state=retired&category=video")).map(({ id }) => id)).toEqual(["sora-2"]);
  const csv = await call("GET", "models.csv?category=video", admin);
  expect(csv.headers["content-type"]).toContain("text/csv");
  expect(csv.body.split("\r\n")[0]).toMatch(/^\uFEFF?id,name,provider/);
  expect(csv.body).toContain('"grok-imagine-video-1.5"');
});
