import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { handledTypes, unstoredTypes } from "#server/features/billing/event-handlers.ts";
import { recordStripeEvents, takeWaitingEvents } from "#server/features/billing/inbox.ts";
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

const record = async (objectId: string, count: number) => {
  const events = Array.from({ length: count }, () => {
    const id = `evt_${randomUUID()}`;
    return { id, type: "invoice.paid", livemode: false, objectId, created: null, payload: JSON.stringify({ id }) };
  });
  return [...(await recordStripeEvents(database.pool, events, false))];
};
const take = (eventId: string, objectId: string) => takeWaitingEvents(database.db, eventId, objectId, ["invoice.paid"]);

test("of refunds, disputes, deleted customers and detached cards no payload is stored, whether code acts on the type or not", async () => {
  const types = [...new Set([...handledTypes, ...unstoredTypes, "payment_method.attached"])];
  const events = types.map((type) => {
    return { id: `evt_${randomUUID()}`, type, livemode: false, objectId: null, created: null, payload: JSON.stringify({ type }) };
  });
  const ids = await recordStripeEvents(database.pool, events, false);
  expect(ids.size).toBe(types.length);
  const rows = database.db
    .selectFrom("stripe_events")
    .select(["type", "payload"])
    .where("id", "in", [...ids]);
  for (const { type, payload } of await rows.execute()) {
    const isPersonal = /^(refund|charge\.refund|charge\.dispute)\.|^(customer\.deleted|payment_method\.detached)$/.test(type);
    expect(payload, type).toEqual(isPersonal ? {} : { type });
  }
  expect(unstoredTypes).toContain("payment_method.detached");
  expect(handledTypes).not.toContain("payment_method.detached");
});

test("a job whose event was taken by another's takes none of those that came later", async () => {
  const [first = "", second = ""] = await record("in_1", 2);
  expect([...(await take(second, "in_1"))].sort()).toEqual([first, second].sort());
  const [later = ""] = await record("in_1", 1);
  expect(await take(first, "in_1")).toEqual([]);
  expect(await take(later, "in_1")).toEqual([later]);
});
