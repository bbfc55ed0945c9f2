/** PostgreSQL's error messages can contain users' data; the log must not. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLogger } from "#server/deps.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test.each([
  [
    "a row that is refused",
    `insert into contact_messages (idempotency_key, content_hash, name, email, category, message, language, created_at)
      values (gen_random_uuid(), '', 'Ada Lovelace', 'ada@example.com', 'praise', 'Nobody else reads this', 'en', now())`,
  ],
  ["JSON that can't be read", `select '{"message": "Nobody else reads this", "name": "Ada Lovelace"'::json`],
])("the error of %s leaves no user data in the log", async (_name, query) => {
  const lines: string[] = [];
  const log = createLogger("info", "test", { write: (line) => lines.push(line) });
  const error: unknown = await database.pool.query(query).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  log.error({ err: error }, "failed");
  const logged = lines.join("");
  expect(logged).toContain('"code":"2');
  expect(logged).not.toMatch(/Ada|Nobody else/);
});
