/** Limits that can't be walked around by writing the same thing differently. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiWorld } from "../support/billing-world.ts";
import { startApiWorld } from "../support/billing-world.ts";

let world: ApiWorld;

beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(async () => {
  await world.close();
});

test("an address written with escapes counts toward the same ceiling as the plain one", async () => {
  const plain = await world.app.inject({ method: "GET", url: "/api/models" });
  expect(plain.headers["x-ratelimit-limit"]).toBeDefined();
  const escaped = await world.app.inject({ method: "GET", url: "/%61pi/models" });
  expect(escaped.statusCode).toBe(200);
  expect(escaped.headers["x-ratelimit-limit"]).toBe(plain.headers["x-ratelimit-limit"]);
});

test("the aliases of one mailbox share its five mails an hour", async () => {
  const password = "a password of 2026";
  for (let alias = 0; alias < 8; alias += 1) {
    const response = await world.post("/api/auth/sign-up", undefined, { email: `some.one+${alias}@gmail.com`, password });
    expect(response.statusCode).toBe(202);
  }
  const mails = await world.database.db.selectFrom("mails").select("recipient").execute();
  expect(mails).toHaveLength(5);
});
