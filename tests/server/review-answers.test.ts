import { afterAll, beforeAll, expect, test } from "vitest";
import type { AnswerProcess, RunningModels } from "../support/answers.ts";
import { ask, resume, startAnswerProcess, startModels } from "../support/answers.ts";
import { createPerson } from "../support/people.ts";
import type { TestDatabase } from "../support/postgres.ts";
import { createTestDatabase } from "../support/postgres.ts";

let database: TestDatabase;
let models: RunningModels;
let api: AnswerProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  models = await startModels();
  api = await startAnswerProcess(database.applicationUrl, models.url);
});
afterAll(async () => {
  await api.close();
  await models.close();
  await database.drop();
});

test("an answer is followed by its id however that is written", async () => {
  const person = await createPerson(api, database.db, { credits: 10, plan: "starter" });
  const answer = await ask(api, person);
  const followed = await resume(api, person, answer.generationId.toUpperCase(), 0);
  expect([followed.text, followed.receipt]).toEqual([answer.text, answer.receipt]);
});
