/** What ends a person's sign-in cuts their open streams and sockets at once; the answer goes on. */
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { endOtherSessions } from "#server/features/auth/own-sessions.ts";
import type { AnswerProcess, RunningModels } from "#tests/support/answers.ts";
import { call, readAnswer, send, startModels } from "#tests/support/answers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let models: RunningModels;
let product: AuthApp;
let api: AnswerProcess;
beforeAll(async () => {
  models = await startModels();
  product = await createAuthApp({ SANDBOX_URL: models.url, SANDBOX_TOKEN: "token-of-the-tests" });
  await product.app.listen({ host: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${(product.app.server.address() as AddressInfo).port}`;
  api = { ...product, url } as unknown as AnswerProcess;
});
afterAll(async () => {
  await product.close();
  await models.close();
});

async function openSocket({ token }: TestPerson): Promise<{ closed: Promise<number> }> {
  const socket = new WebSocket(`${api.url.replace("http", "ws")}/api/realtime`, { headers: { origin: api.url } });
  const closed = new Promise<number>((resolve) => socket.on("close", resolve));
  await new Promise((resolve) => socket.once("open", resolve));
  socket.send(JSON.stringify({ type: "authenticate", access_token: token }));
  await new Promise((resolve) => socket.once("message", resolve));
  return { closed };
}

async function change(person: TestPerson, changes: { role?: "user" | "admin"; banned_at?: Date }): Promise<void> {
  await product.db.updateTable("users").set(changes).where("id", "=", person.userId).execute();
  await product.deps.live.publish({ userId: person.userId, table: "session" });
}

test.each([
  [
    "signing out everywhere",
    401,
    async (person: TestPerson) => {
      await endOtherSessions(product.deps, { userId: person.userId, sessionId: randomUUID(), network: "10.0.0.1" });
    },
  ],
  ["a ban", 401, (person: TestPerson) => change(person, { banned_at: new Date() })],
  ["the loss of a role", 200, (person: TestPerson) => change(person, { role: "user" })],
])(
  "%s cuts the stream of an answer and the open socket; the next call gets %s, and the answer is completed and charged",
  async (_name, status, end) => {
    models.pace.milliseconds = 15;
    const person = await createPerson(product, product.db, { credits: 10 });
    await product.db.updateTable("users").set({ role: "admin" }).where("id", "=", person.userId).execute();
    const socket = await openSocket(person);
    const reading = { generationId: "" };
    let started = () => {};
    const firstWord = new Promise<void>((resolve) => {
      started = resolve;
    });
    const stream = readAnswer(await send(api, person), (seen) => {
      reading.generationId = seen.generationId;
      if (seen.text !== "") started();
      return false;
    });
    const cut = expect(stream).rejects.toThrow();
    await firstWord;
    const events = await call(api, person, "GET", `/api/generations/${reading.generationId}/events`);
    const following = expect(readAnswer(events)).rejects.toThrow();
    await end(person);
    await Promise.all([cut, following]);
    expect(await socket.closed).toBe(4403);
    expect((await product.get("/api/account", person.token)).statusCode).toBe(status);
    const answer = () =>
      product.db
        .selectFrom("generations")
        .select(["status", "charged_credits"])
        .where("id", "=", reading.generationId)
        .executeTakeFirstOrThrow();
    await expect.poll(answer).toEqual({ status: "completed", charged_credits: 1 });
  },
);
