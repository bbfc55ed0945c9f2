/** A model that has ended is not offered, charged for or asked; what was sold keeps its name. The tests run on a clock of their own. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ModelList } from "#contract/catalogue.ts";
import type { Conversation } from "#contract/conversations.ts";
import { addMonths } from "#domain/clock.ts";
import { catalogue, findModel } from "#domain/models.ts";
import { readConfig } from "#server/config.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { ConfigError } from "#server/environment.ts";
import { listModels, soldModel } from "#server/features/catalogue/service.ts";
import { tellOfEndings } from "#server/features/catalogue/tell-endings.ts";
import { findDisagreements, postGrant } from "#server/features/credits/service.ts";
import { renderMail } from "#server/features/notifications/render.ts";
import type { RunningModels, SeenAnswer } from "#tests/support/answers.ts";
import { ask, send, startModels } from "#tests/support/answers.ts";
import type { ApiWorld } from "#tests/support/billing-world.ts";
import { startApiWorld } from "#tests/support/billing-world.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { payerIdOf } from "#tests/support/payers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";

const start = new Date("2026-11-23T09:00:00Z");
let answering: RunningModels;
let world: ApiWorld;
let process: { url: string };

beforeAll(async () => {
  answering = await startModels({ now: () => world.clock.now() });
  world = await startApiWorld({ SANDBOX_URL: answering.url, SANDBOX_TOKEN: "token-of-the-tests" }, start);
  await world.app.listen({ host: "127.0.0.1", port: 0 });
  process = { url: `http://127.0.0.1:${(world.app.server.address() as AddressInfo).port}` };
});
afterAll(async () => {
  expect(await findDisagreements(world.deps.db)).toEqual([]);
  await world.close();
  await answering.close();
});

async function personWithCredits(): Promise<TestPerson> {
  const person = await createPerson(world, world.database.db, { credits: 0 });
  const payerId = await payerIdOf(world.database.db, person.userId);
  const grant = { payerId, kind: "adjustment", credits: 100, expiresAt: addMonths(start, 12), key: `test:${person.userId}` } as const;
  await inTransaction(world.deps.db, (trx) => postGrant(trx, grant, start));
  return person;
}

const get = async <Answer>(url: string, { token }: TestPerson) =>
  (await world.app.inject({ url, headers: { authorization: `Bearer ${token}` } })).json<Answer>();
const listed = async () => (await world.app.inject("/api/models")).json<ModelList>().models;
/** Asks under a new key. Earlier answers are moved back in time, so that the plan's rate limit plays no part. */
async function asked(person: TestPerson, model: string, rest: object = {}): Promise<SeenAnswer> {
  await world.database.asOwner("update generations set asked_at = asked_at - interval '1 minute'; delete from refused_sends");
  return ask(
    process as never,
    person,
    { model, quotedCredits: findModel(model)?.credits ?? 0, ...rest },
    { key: `the-key-of-${model}-${JSON.stringify(rest)}` },
  );
}

const endings = [
  ["2026-11-30", "claude-sonnet-4-5", "claude-sonnet-5-5"],
  ["2026-12-01", "gemini-2.5-pro", "gemini-3.8-flash"],
  ["2026-12-01", "gemini-2.5-flash", "gemini-3.5-flash-lite"],
  ["2026-12-11", "gpt-5", "gpt-6.1-sol"],
  ["2026-12-11", "gpt-5-mini", "gpt-6-luna"],
  ["2026-12-11", "gpt-5-search-api", "gpt-6.1-terra-search"],
] as const;

test("a model that is about to end is listed with its last day and its successor, and answers until that day", async () => {
  const models = new Map((await listed()).map((model) => [model.id, model]));
  for (const [until, id, successor] of endings) expect(models.get(id), id).toMatchObject({ until, successor, available: true });
  // Its end is further ahead than an announcement.
  expect(models.get("whisper-1")).toMatchObject({ until: null, successor: "gpt-transcribe" });
  expect(models.get("gpt-6-luna")).toMatchObject({ until: null, successor: null });
});

test("who used a model that is about to end in the last 30 days is told once, with its successor; nobody else is, and who wants no such mails", async () => {
  const [user, other, declining, gone] = [
    await personWithCredits(),
    await personWithCredits(),
    await personWithCredits(),
    await personWithCredits(),
  ];
  await asked(user, "gpt-5");
  await asked(user, "gpt-5", { prompt: "Again" });
  await asked(other, "gpt-6-luna");
  await asked(declining, "gpt-5");
  await world.database.db
    .updateTable("users")
    .set({ declined_mails: ["models"] })
    .where("id", "=", declining.userId)
    .execute();
  await asked(gone, "gpt-5");
  await world.database.asOwner(
    `update generations set asked_at = asked_at - interval '31 days' where user_id = '${gone.userId}';
     update usage_days set day = day - 31 where billing_account_id = payer_of('${gone.userId}');
     update model_accounts set last_day = last_day - 31 where billing_account_id = payer_of('${gone.userId}')`,
  );
  const tell = () => tellOfEndings(world.deps, new AbortController().signal);
  expect([await tell(), await tell()]).toEqual([1, 0]);
  // People who have switched these mails off are also noted, so that the next run does not read them again.
  const untold = world.database.db
    .selectFrom("model_accounts")
    .select("billing_account_id")
    .where("model_id", "=", "gpt-5")
    .where("told", "=", false);
  expect(await untold.execute()).toEqual([{ billing_account_id: await payerIdOf(world.database.db, gone.userId) }]);
  const mails = await world.database.db.selectFrom("mails").selectAll().where("template", "=", "model-ending").execute();
  expect(mails).toMatchObject([
    { user_id: user.userId, key: `model-ending:gpt-5:${user.userId}`, recipient: user.email, created_at: start },
  ]);
  const [mail] = mails;
  const { subject, text } = renderMail(world.deps.config, { ...mail, language: "en" } as never);
  expect(subject).toBe("GPT-5 leaves on December 11, 2026");
  expect(text).toContain("GPT-6.1 Sol at the same price");

  // Who comes back to it meanwhile is told, too.
  await asked(gone, "gpt-5", { prompt: "Once more" });
  expect([await tell(), await tell()]).toEqual([1, 0]);
});

test("an account that can't be told keeps the mail from no other account, and is told once it can be", async () => {
  const [broken, sound] = [await personWithCredits(), await personWithCredits()];
  for (const model of ["gpt-5", "gpt-5-mini"]) await asked(broken, model);
  await asked(sound, "gpt-5");
  await asked(sound, "gpt-5-mini");
  // Who used it longest ago is told first.
  const payerId = await payerIdOf(world.database.db, broken.userId);
  await world.database.asOwner(
    `update model_accounts set last_day = last_day - 1 where billing_account_id = '${payerId}'`,
    `create function refuse() returns trigger language plpgsql as
      'begin if new.key = ''model-ending:gpt-5:${broken.userId}'' then raise exception ''broken''; end if; return new; end'`,
    "create trigger refuse before insert on mails for each row execute function refuse()",
  );
  const tell = () => tellOfEndings(world.deps, new AbortController().signal);
  const failures = world.database.db.selectFrom("sweep_failures").select("subject").where("sweep", "=", "model-endings");
  expect(await tell()).toBe(3);
  expect(await failures.execute()).toEqual([{ subject: `gpt-5 ${payerId}` }]);
  await world.database.asOwner("drop trigger refuse on mails", "drop function refuse", "update sweep_failures set retry_at = now()");
  expect([await tell(), await tell()]).toEqual([1, 0]);
  expect(await failures.execute()).toEqual([]);
});

test("the mail says that the price is another where an admin's price of the successor begins before that day", async () => {
  const person = await personWithCredits();
  await asked(person, "gpt-5-mini");
  const dearer = [{ beginsOn: "2026-12-05", credits: 2 }];
  const pricesOf = (id: string) => (id === "gpt-6-luna" ? dearer : []);
  const switches = { find: () => undefined, pricesOf } as unknown as typeof world.deps.switches;
  expect(await tellOfEndings({ ...world.deps, switches }, new AbortController().signal)).toBe(1);
  const mail = await world.database.db.selectFrom("mails").selectAll().where("user_id", "=", person.userId).executeTakeFirstOrThrow();
  expect(renderMail(world.deps.config, { ...mail, language: "en" } as never).text).toContain("GPT-6 Luna, which has another price");
});

test("from its day on it is neither listed nor answers, at no charge; the conversation goes on with its successor, and receipts keep the name", async () => {
  const person = await personWithCredits();
  const before = new Map<string, SeenAnswer>();
  for (const [, id] of endings) before.set(id, await asked(person, id));
  for (const [until, id, successor] of endings) {
    world.clock.moveTo(new Date(`${until}T00:00:00Z`));
    expect((await listed()).map((model) => model.id)).not.toContain(id);
    const { balance, held } = await get<{ balance: number; held: number }>("/api/credits/wallet", person);
    const { conversationId, generationId, text, receipt } = before.get(id) as SeenAnswer;

    const quotedCredits = findModel(id)?.credits;
    const refused = await send(process as never, person, { model: id, quotedCredits, conversationId, prompt: "And then?" });
    expect([refused.status, await refused.json()]).toMatchObject([422, { code: "model_retired", successor, quotedCredits }]);
    // What was asked before is not asked again.
    expect((await asked(person, id)).receipt).toEqual(receipt);
    expect(await get("/api/credits/wallet", person)).toMatchObject({ balance, held });

    const next = await asked(person, successor, { conversationId, prompt: "And then?" });
    expect(next.receipt).toMatchObject({ modelId: successor, status: "completed", chargedCredits: quotedCredits });
    const conversation = await get<Conversation>(`/api/conversations/${conversationId}`, person);
    const answers = conversation.messages.flatMap((message) => message.receipt ?? []);
    expect(answers.map(({ modelId }) => modelId)).toEqual([id, successor]);
    expect(answers[0]).toEqual(receipt);
    expect(await get(`/api/generations/${generationId}`, person)).toMatchObject({
      modelId: id,
      parts: expect.arrayContaining([{ kind: "text", text }]),
    });
  }
  const offered = new Set((await listed()).map(({ id }) => id));
  for (const { id, until } of catalogue) if (until !== undefined && until <= "2026-12-11") expect(offered).not.toContain(id);
});

describe("the operator's file", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tessera-models-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function configOf(content: string) {
    const file = path.join(folder, "models.json");
    await writeFile(file, content);
    return readConfig(testEnvironment({ applicationUrl: "postgres://app@127.0.0.1/none" }, { MODELS_FILE: file }));
  }

  test("switches a model off, and asks another under the id that it names, at the same price", async () => {
    const config = await configOf(JSON.stringify({ "gpt-6.1-sol": { off: true }, "gpt-6-luna": { upstreamModel: "gpt-6-luna-pinned" } }));
    const deps = { ...world.deps, config };
    const models = new Map(listModels(deps).models.map((model) => [model.id, model.available]));
    expect([models.get("gpt-6.1-sol"), models.get("gpt-6-luna")]).toEqual([false, true]);
    expect(soldModel(deps, "gpt-6-luna")).toEqual({ ...findModel("gpt-6-luna"), upstreamModel: "gpt-6-luna-pinned" });
    expect(soldModel(deps, "gpt-6.1-terra")).toEqual(findModel("gpt-6.1-terra"));
  });

  test.each([
    ["is no JSON", "{", /can't be read as JSON/],
    ["names an unknown model", '{"gpt-99": {"off": true}}', /names gpt-99, which is no model/],
    ["changes a price", '{"gpt-6-luna": {"credits": 1}}', /each model has "off" or "upstreamModel"/],
    ["is a list", "[]", /each model has "off" or "upstreamModel"/],
  ])("that %s stops the start with one clear line", async (_name, content, fault) => {
    const error = await configOf(content).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).faults).toEqual([expect.stringMatching(fault)]);
  });

  test("that does not exist stops the start", () => {
    const variables = { MODELS_FILE: path.join(folder, "nowhere.json") };
    expect(() => readConfig(testEnvironment({ applicationUrl: "postgres://app@127.0.0.1/none" }, variables))).toThrow(/MODELS_FILE/);
  });
});
