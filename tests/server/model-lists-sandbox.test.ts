/** What the daily check finds, tried on the sandbox: it lists models with their last day, and from that day on neither lists nor serves them. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkModelLists } from "#server/features/catalogue/check-lists.ts";
import { soldModel } from "#server/features/catalogue/service.ts";
import { listOpenFindings } from "#server/features/findings/service.ts";
import type { RunningModels } from "#tests/support/answers.ts";
import { startModels } from "#tests/support/answers.ts";
import type { ApiWorld } from "#tests/support/billing-world.ts";
import { startApiWorld } from "#tests/support/billing-world.ts";
import { answerOf } from "#tests/support/one-answer.ts";

const start = new Date("2026-11-23T09:00:00Z");
let folder: string;
let models: RunningModels;
let world: ApiWorld;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tessera-lists-"));
  const file = path.join(folder, "models.json");
  // An operator asks one of ours under the id of a model that ends, of which the catalogue knows nothing.
  await writeFile(file, JSON.stringify({ "gpt-6-luna": { upstreamModel: "gpt-5-mini" } }));
  models = await startModels({ now: () => world.clock.now() });
  world = await startApiWorld({ SANDBOX_URL: models.url, SANDBOX_TOKEN: "token-of-the-tests", MODELS_FILE: file }, start);
});
afterAll(async () => {
  await world.close();
  await models.close();
  await rm(folder, { recursive: true, force: true });
});

async function found(): Promise<unknown[]> {
  await checkModelLists(world.deps, new AbortController().signal);
  return (await listOpenFindings(world.deps.db, 20)).map(({ kind, subject }) => [kind, subject]);
}
const luna = () => soldModel(world.deps, "gpt-6-luna") ?? expect.fail("there is no such model");

test("a model of the sandbox is ending, and once its clock has moved to that day it is gone, and its questions are its outage", async () => {
  expect(await found()).toEqual([["model_ending", "gpt-6-luna"]]);
  expect((await answerOf(world.deps.models, luna())).failure).toBeUndefined();

  world.clock.moveTo(new Date("2026-12-11T00:00:00Z"));
  expect(await found()).toEqual([["model_gone", "gpt-6-luna"]]);
  for (let asked = 0; asked < 5; asked += 1) expect((await answerOf(world.deps.models, luna())).failure).toBe("model_gone");
  expect(world.deps.models.waitMs(luna(), "one")).toBeGreaterThan(0);
});
