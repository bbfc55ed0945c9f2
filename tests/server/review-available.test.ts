import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addMonths } from "#domain/clock.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { postGrant } from "#server/features/credits/service.ts";
import type { AnswerProcess, RunningModels } from "../support/answers.ts";
import { send, startAnswerProcess, startModels } from "../support/answers.ts";
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

test("credits that are locked for want of a subscription are not named as available", async () => {
  const person = await createPerson(api, database.db, { credits: 1 });
  const now = new Date();
  const pack = { userId: person.userId, kind: "pack", credits: 2, expiresAt: addMonths(now, 12), key: `pack:${randomUUID()}` } as const;
  await inTransaction(database.db, (trx) => postGrant(trx, pack, now));
  const refused = await send(api, person, { model: "gpt-5", quotedCredits: 5 });
  expect([refused.status, await refused.json()]).toMatchObject([402, { code: "insufficient_credits", needed: 5, available: 1 }]);
});
