/** What the log has of what people did, and that it has nothing of what they wrote: PostgreSQL's error messages can contain that. */
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { buildApp } from "#server/app.ts";
import { readConfig } from "#server/config.ts";
import { createDeps, createLogger } from "#server/deps.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { createPerson } from "#tests/support/people.ts";
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

async function startLogged() {
  const lines: string[] = [];
  const deps = createDeps(
    readConfig(testEnvironment(database)),
    "test",
    createLogger("info", "test", { write: (line) => lines.push(line) }),
  );
  const app = await buildApp(deps);
  return {
    app,
    lines,
    refused: () => lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request refused"),
    async close() {
      await app.close();
      await deps.close();
    },
  };
}

test("every refusal is logged with its code, its route, the person and a shortened network, and nothing that was sent", async () => {
  const { app, lines, refused, close } = await startLogged();
  try {
    const { token, userId } = await createPerson({ app }, database.db, { credits: 0 });
    const remoteAddress = "203.0.113.77";
    const credentials = { email: "ada@example.com", password: "nobody else knows 1" };
    await app.inject({ url: "/api/account", headers: { authorization: "Bearer a-forged-token" }, remoteAddress });
    await app.inject({ method: "POST", url: "/api/auth/sign-in", payload: credentials, remoteAddress });
    const id = "0190b3a0-0000-7000-8000-000000000000";
    await app.inject({ url: `/api/conversations/${id}`, headers: { authorization: `Bearer ${token}` }, remoteAddress });
    await app.inject({ method: "POST", url: "/api/stripe/webhook", payload: "{}", remoteAddress });
    await app.inject({ method: "POST", url: "/api/auth/refresh", payload: { more: "than expected" }, remoteAddress });
    const network = "203.0.113.0/24";
    expect(refused()).toMatchObject([
      { code: "unauthenticated", status: 401, method: "GET", route: "/api/account", network },
      { code: "invalid_credentials", status: 401, method: "POST", route: "/api/auth/sign-in", network },
      { code: "not_found", status: 404, method: "GET", route: "/api/conversations/:id", network, userId },
      { code: "invalid_signature", status: 400, method: "POST", route: "/api/stripe/webhook", network },
      { code: "validation_failed", method: "POST", route: "/api/auth/refresh", network },
    ]);
    expect(lines.join("")).not.toMatch(/ada@|nobody else|forged|expected|203\.0\.113\.77|0190b3a0/);
  } finally {
    await close();
  }
});

test("a WebSocket that shows no valid token is logged", async () => {
  const { app, refused, close } = await startLogged();
  try {
    const origin = await app.listen({ host: "127.0.0.1", port: 0 });
    for (const message of ["garbage", JSON.stringify({ type: "authenticate", access_token: "a.forged.token" })]) {
      const socket = new WebSocket(`${origin.replace("http", "ws")}/api/realtime`, { headers: { origin } });
      await once(socket, "open");
      socket.send(message);
      await once(socket, "close");
    }
    const line = { code: "unauthenticated", status: 401, route: "/api/realtime", network: "127.0.0.0/24" };
    expect(refused()).toMatchObject([line, line]);
  } finally {
    await close();
  }
});
