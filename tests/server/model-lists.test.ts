/** Once a day the catalogue is compared with the providers' own lists; what differs is a finding for the operator. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import Fastify from "fastify";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { hourMs } from "#domain/clock.ts";
import { modelsAt, providers } from "#domain/models.ts";
import { checkModelLists } from "#server/features/catalogue/check-lists.ts";
import { checkOffer } from "#server/features/catalogue/check-offer.ts";
import { closeFinding, listOpenFindings } from "#server/features/findings/service.ts";
import { createModelGateway } from "#server/providers/models/gateway.ts";
import type { ApiWorld } from "#tests/support/billing-world.ts";
import { startApiWorld } from "#tests/support/billing-world.ts";

let provider: FastifyInstance;
let world: ApiWorld;
let asked: FastifyRequest[] = [];
const start = new Date("2026-11-23T09:00:00Z");
/** By provider: the list, or the status of its error. */
let lists: Record<string, object[] | number>;

const served = (name: string) => modelsAt(start).filter((model) => model.provider === name && model.protocol);

beforeAll(async () => {
  provider = Fastify({ forceCloseConnections: true });
  provider.get<{ Params: { provider: string } }>("/:provider/v1/models", async (request, reply) => {
    asked.push(request);
    const list = lists[request.params.provider];
    return typeof list === "object" ? { object: "list", data: list } : reply.code(list ?? 404).send({});
  });
  const address = await provider.listen({ host: "127.0.0.1", port: 0 });
  const variables = ["OPENAI", "ANTHROPIC", "GOOGLE", "PERPLEXITY"].flatMap((name) => [
    [`${name}_API_KEY`, `key-of-${name}`],
    [`${name}_BASE_URL`, `${address}/${name.toLowerCase()}/v1/`],
  ]);
  world = await startApiWorld(Object.fromEntries(variables), start);
});
afterAll(async () => {
  await world.close();
  await provider.close();
});
afterEach(async () => {
  asked = [];
  await world.database.asOwner("update schedules set due_at = '-infinity' where name = 'model-lists'");
});

const check = () => checkModelLists(world.deps, new AbortController().signal);
/** The open findings, without those that come only from this file having few providers. */
const open = async () =>
  (await listOpenFindings(world.deps.db, 100))
    .filter(({ kind }) => kind !== "models_few")
    .map(({ kind, subject, details }) => ({ kind, subject, details }));

test("lists that have every model find nothing; each provider with a key is asked once, with its own kind of key; Google's ids have a prefix", async () => {
  lists = {
    openai: served("openai").map(({ upstreamModel: id, until = null }) => ({ id, object: "model", shutdown_date: until })),
    anthropic: served("anthropic").map(({ upstreamModel: id }) => ({ id, type: "model" })),
    google: served("google").map(({ upstreamModel }) => ({ id: `models/${upstreamModel}` })),
  };
  await check();
  expect(await open()).toEqual([]);
  expect(asked.map(({ url }) => url)).toEqual([
    ...["/openai/v1/models", "/anthropic/v1/models?limit=1000", "/google/v1/models", "/perplexity/v1/models"],
  ]);
  const [openai, anthropic] = asked.map(({ headers }) => [headers.authorization, headers["x-api-key"]]);
  expect([openai, anthropic]).toEqual([
    ["Bearer key-of-OPENAI", undefined],
    [undefined, "key-of-ANTHROPIC"],
  ]);
});

test("workers that check at the same time ask once, and not again on the same day", async () => {
  await Promise.all([check(), check(), check()]);
  await check();
  expect(asked.filter(({ url }) => url.startsWith("/openai/"))).toHaveLength(1);
});

test("a model that is gone or ends earlier is found, one provider's failure hides no other's, and what is right again is resolved", async () => {
  const listOf = (without: string, shutdown: Record<string, string>) =>
    served("openai").flatMap(({ upstreamModel: id, until = null }) =>
      id === without ? [] : [{ id, shutdown_date: shutdown[id] ?? until }],
    );
  lists = { openai: listOf("gpt-6-luna", { "gpt-6.1-sol": "2027-01-15", "gpt-5": "2026-12-20" }), anthropic: 500, google: [] };
  await check();
  expect(await open()).toEqual([
    {
      ...{ kind: "model_ending", subject: "gpt-6.1-sol" },
      details: { provider: "openai", upstreamModel: "gpt-6.1-sol", until: null, shutdownDate: "2027-01-15" },
    },
    {
      ...{ kind: "model_gone", subject: "gpt-6-luna" },
      details: { provider: "openai", upstreamModel: "gpt-6-luna", until: null, shutdownDate: null },
    },
  ]);

  // A list that could not be read is asked for again within the hour.
  const due = await world.database.db.selectFrom("schedules").select("due_at").where("name", "=", "model-lists").executeTakeFirstOrThrow();
  expect(due.due_at.getTime() - start.getTime()).toBeLessThan(hourMs);

  // What an operator has closed stays closed.
  const ending = (await listOpenFindings(world.deps.db, 20)).find(({ kind }) => kind === "model_ending");
  await closeFinding(world.deps.db, ending?.id ?? "", start);
  await world.database.asOwner("update schedules set due_at = '-infinity' where name = 'model-lists'");
  lists = { ...lists, openai: listOf("", { "gpt-6.1-sol": "2027-01-15" }) };
  await check();
  expect(await open()).toEqual([]);
});

test("models that nobody here knows are one finding of their provider, and a refused key is one, until it is accepted", async () => {
  const known = served("openai").map(({ upstreamModel: id, until = null }) => ({ id, shutdown_date: until }));
  // What has ended here is not unknown.
  lists = { openai: [...known, { id: "gpt-7" }, { id: "embedding-9" }, { id: "gpt-image-1" }], anthropic: 401, google: [] };
  await check();
  expect(await open()).toEqual([
    { kind: "models_unknown", subject: "openai", details: { count: 2, models: "embedding-9, gpt-7" } },
    { kind: "model_key_refused", subject: "anthropic", details: {} },
  ]);
  await world.database.asOwner("update schedules set due_at = '-infinity' where name = 'model-lists'");
  lists = { openai: known, anthropic: served("anthropic").map(({ upstreamModel: id }) => ({ id })), google: [] };
  await check();
  expect(await open()).toEqual([]);
});

/** As Anthropic's list had it: dates behind the names of older models, and none behind those of new ones. */
const anthropicList = [
  { type: "model", id: "claude-sonnet-5-5", display_name: "Claude Sonnet 5.5", created_at: "2026-09-28T00:00:00Z" },
  { type: "model", id: "claude-haiku-5-5", display_name: "Claude Haiku 5.5", created_at: "2026-10-07T00:00:00Z" },
  { type: "model", id: "claude-haiku-4-5-20251001", display_name: "Claude Haiku 4.5", created_at: "2025-10-15T00:00:00Z" },
  { type: "model", id: "claude-sonnet-4-5-20250929", display_name: "Claude Sonnet 4.5", created_at: "2025-09-29T00:00:00Z" },
];
const openAiModel = (id: string, shutdown_date: string | null = null) => ({
  id,
  object: "model",
  created: 1_770_000_000,
  owned_by: "system",
  shutdown_date,
});
const openAiList = [
  ...[openAiModel("gpt-6-luna"), openAiModel("gpt-6-luna-2026-09-30"), openAiModel("gpt-6.1-sol"), openAiModel("gpt-6.1-terra")],
  ...[openAiModel("gpt-5"), openAiModel("gpt-5-2025-08-07", "2026-12-11"), openAiModel("gpt-5-mini-2025-08-07", "2026-12-11")],
  ...[openAiModel("gpt-5-search-api"), openAiModel("gpt-5-search-api-2025-10-14"), openAiModel("gpt-image-2.6-flare")],
  ...[openAiModel("gpt-image-2.6-sunburst-2026-10-20"), openAiModel("gpt-transcribe"), openAiModel("whisper-1", "2027-02-26")],
  ...[openAiModel("gpt-4o-mini-tts-2025-03-20", "2026-12-20"), openAiModel("gpt-4o-mini-tts-2025-12-15", "2027-01-06")],
];

test("a listed model with a date behind the name that we ask by is that model: it is neither gone nor unknown", async () => {
  lists = { openai: openAiList, anthropic: anthropicList, google: [] };
  await check();
  expect(await open()).toEqual([]);
});

test("what ends is the newest dated model behind a name; an older one, another name, or digits that are no date are not that model", async () => {
  const with_ = (...others: object[]) => [...openAiList.filter(({ id }) => !id.startsWith("gpt-6-luna")), ...others];
  const found = async (...others: object[]) => {
    await world.database.asOwner("update schedules set due_at = '-infinity' where name = 'model-lists'");
    lists = { openai: with_(...others), anthropic: anthropicList, google: [] };
    await check();
    return (await open()).map(({ kind, details }) => [kind, details.shutdownDate ?? details.models ?? null]);
  };
  const old = openAiModel("gpt-6-luna-2026-06-30", "2027-01-10");
  // The name itself may lack its day, and may not be listed at all.
  expect(await found(openAiModel("gpt-6-luna"), old, openAiModel("gpt-6-luna-2026-09-30"))).toEqual([]);
  expect(await found(openAiModel("gpt-6-luna"), old, openAiModel("gpt-6-luna-2026-09-30", "2027-03-01"))).toEqual([
    ["model_ending", "2027-03-01"],
  ]);
  expect(await found(openAiModel("gpt-6-luna-2026-09-30", "2027-03-01"), old)).toEqual([["model_ending", "2027-03-01"]]);
  expect(await found(openAiModel("gpt-6-luna", "2027-05-01"), openAiModel("gpt-6-luna-2026-09-30", "2027-03-01"))).toEqual([
    ["model_ending", "2027-05-01"],
  ]);
  const others = ["gpt-6-luna-mini-2026-09-30", "gpt-6-luna-20260930", "gpt-6-luna-2026-13-30"];
  expect(await found(...others.map((id) => openAiModel(id)))).toEqual([
    ["model_gone", null],
    ["models_unknown", others.toSorted().join(", ")],
  ]);
  await found(openAiModel("gpt-6-luna"));
  expect(await open()).toEqual([]);
});

test("what was found about a model that is switched off or has ended, or a provider without a key, is resolved, also for who looks before the next check", async () => {
  const gone = (id: string) => openAiList.filter((model) => !model.id.startsWith(id));
  const left = async () => (await open()).map(({ kind, subject }) => `${kind} ${subject}`).toSorted();
  const find = async (openai: object[] | number, anthropic: object[] | number) => {
    await world.database.asOwner("update schedules set due_at = '-infinity' where name = 'model-lists'");
    lists = { openai, anthropic, google: [] };
    await check();
    return left();
  };
  const since = (deps: Partial<typeof world.deps>) => checkModelLists({ ...world.deps, ...deps }, new AbortController().signal);

  const found = ["model_gone gpt-6-luna", "model_key_refused anthropic", "models_unknown openai"];
  expect(await find([...gone("gpt-6-luna"), openAiModel("gpt-9")], 401)).toEqual(found);
  // The day's check was done, and finds nothing more.
  await check();
  expect(await left()).toEqual(found);
  const off = { find: (id: string) => (id === "gpt-6-luna" ? { off: true } : undefined), pricesOf: () => [] };
  await since({ switches: off as unknown as typeof world.deps.switches });
  expect(await left()).toEqual(["model_key_refused anthropic", "models_unknown openai"]);

  const keys = Object.entries(world.deps.config.models).filter(([name]) => name !== "anthropic");
  await since({ models: createModelGateway({ ...world.deps.config, models: Object.fromEntries(keys) }) });
  expect(await left()).toEqual(["models_unknown openai"]);

  const withoutSonnet = anthropicList.filter(({ id }) => !id.startsWith("claude-sonnet-4-5"));
  expect(await find(openAiList, withoutSonnet)).toEqual(["model_gone claude-sonnet-4-5"]);
  await since({ clock: { ...world.deps.clock, now: () => new Date("2026-11-30T00:00:00Z") } });
  expect(await left()).toEqual([]);
});

test("too few models with today's keys, or none of a kind, are told a month ahead; facts that are old are told", async () => {
  const offer = async (at: string, without: readonly string[] = []) => {
    const keys = providers.filter((name) => !without.includes(name)).map((name) => [name, { apiKey: "key" }]);
    const models = createModelGateway({ ...world.deps.config, models: Object.fromEntries(keys) });
    const deps = { ...world.deps, clock: { now: () => new Date(at) }, models };
    await checkOffer(deps);
    const found = await listOpenFindings(world.deps.db, 100);
    return found.filter(({ subject }) => subject === "catalogue").map(({ kind, details }) => [kind, details]);
  };
  expect(await offer("2026-11-23T09:00:00Z")).toEqual([]);
  // Without Mistral nobody reads aloud from the day on which OpenAI's model ends.
  expect(await offer("2026-12-06T09:00:00Z", ["mistral"])).toEqual([]);
  expect(await offer("2026-12-10T09:00:00Z", ["mistral"])).toEqual([["models_few", { day: "2027-01-06", count: 17, missing: "speech" }]]);
  expect(await offer("2026-12-10T09:00:00Z", ["mistral", "xai", "google"])).toMatchObject([
    ["models_few", { day: null, missing: "video" }],
  ]);
  expect(await offer("2027-01-21T09:00:00Z")).toEqual([["model_facts_old", { asOf: "2026-11-22" }]]);
  expect(await offer("2027-01-20T09:00:00Z")).toEqual([]);
});
