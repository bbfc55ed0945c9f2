import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recordStripeEvents } from "#server/features/billing/inbox.ts";
import type { TestDatabase } from "../support/postgres.ts";
import { createTestDatabase } from "../support/postgres.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("two processes that receive the same events in opposite order both accept them", async () => {
  for (let round = 0; round < 40; round += 1) {
    const events = Array.from({ length: 32 }, () => {
      const id = `evt_${randomUUID()}`;
      return { id, type: "invoice.paid", livemode: false, objectId: null, created: null, payload: JSON.stringify({ id }) };
    });
    const taken = await Promise.all([
      recordStripeEvents(database.pool, events, false),
      recordStripeEvents(database.pool, events.toReversed(), false),
    ]);
    expect(taken.reduce((sum, ids) => sum + ids.size, 0)).toBe(events.length);
  }
});
