import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import type { Session } from "#contract/auth.ts";
import type { RealtimeMessage } from "#contract/realtime.ts";
import { isOwnOrigin } from "#server/http/realtime.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let product: AuthApp;
let origin: string;
const sockets = new Set<WebSocket>();

beforeAll(async () => {
  product = await createAuthApp();
  await product.app.listen({ host: "127.0.0.1", port: 0 });
  origin = `http://127.0.0.1:${(product.app.server.address() as AddressInfo).port}`;
});
afterAll(() => product.close());
afterEach(() => {
  for (const socket of sockets) socket.terminate();
  sockets.clear();
});

interface Client {
  socket: WebSocket;
  messages: RealtimeMessage[];
  /** The close code, once closed. */
  closed: Promise<number>;
}

async function open(headers: Record<string, string> = { origin }): Promise<Client> {
  const socket = new WebSocket(`${origin.replace("http", "ws")}/api/realtime`, { headers });
  sockets.add(socket);
  const messages: RealtimeMessage[] = [];
  socket.on("message", (data) => messages.push(JSON.parse(String(data))));
  const closed = new Promise<number>((resolve) => socket.on("close", resolve));
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  return { socket, messages, closed };
}

async function connect(session: Session): Promise<Client> {
  const client = await open();
  client.socket.send(JSON.stringify({ type: "authenticate", access_token: session.access_token }));
  await vi.waitFor(() => expect(client.messages[0]).toMatchObject({ type: "ready" }), 5_000);
  return client;
}

test("a change of a person's rows reaches all their pages and nobody else's", async () => {
  const [session, other] = [await product.join(), await product.join()];
  const [first, second, foreign] = [await connect(session), await connect(session), await connect(other)];
  const change = { type: "change", table: "user_subscriptions", user_id: session.user.id };
  // A notification sent before the process listens is lost; clients re-check on connecting, so only later ones count.
  await vi.waitFor(async () => {
    await product.deps.live.publish({ userId: session.user.id, table: "user_subscriptions" });
    expect(first.messages).toContainEqual(change);
    expect(second.messages).toContainEqual(change);
  }, 5_000);
  const marker = { type: "change", table: "wallets", user_id: other.user.id };
  await product.deps.live.publish({ userId: other.user.id, table: "wallets" });
  await vi.waitFor(() => expect(foreign.messages).toContainEqual(marker), 5_000);
  expect(foreign.messages).toHaveLength(2);
  expect(foreign.messages[0]).toEqual({ type: "ready", server_time: expect.stringMatching(/^\d{4}-.*Z$/) });
});

test.each([
  ["another site", { origin: "https://elsewhere.example" }],
  ["no origin", {}],
  ["the null origin", { origin: "null" }],
  ["a site whose name starts alike", { origin: "http://tessera.test.elsewhere.example" }],
  ["another scheme of the same name", { origin: "https://tessera.test" }],
])("a handshake from %s is refused with 403", async (_name, headers) => {
  await expect(open(headers as Record<string, string>)).rejects.toThrow("403");
});

test("the product's own address is let in, under its public name too", async () => {
  const { closed, socket } = await open({ origin: "http://tessera.test" });
  socket.close();
  expect(await closed).toBe(1005);
  expect(isOwnOrigin({ headers: { origin: "file://x" }, host: "x" } as never, new URL("http://tessera.test"))).toBe(false);
});

test.each([
  ["garbage", () => "garbage"],
  ["another message", () => JSON.stringify({ type: "subscribe" })],
  ["a forged token", () => JSON.stringify({ type: "authenticate", access_token: "a.b.c" })],
  ["a refresh token", (session: Session) => JSON.stringify({ type: "authenticate", access_token: session.refresh_token })],
  ["more than asked", (session: Session) => JSON.stringify({ type: "authenticate", access_token: session.access_token, extra: 1 })],
])("%s as the first message closes with 4401", async (_name, message) => {
  const client = await open();
  client.socket.send(message(await product.join()));
  expect(await client.closed).toBe(4401);
  expect(client.messages).toEqual([{ type: "closed", code: "unauthenticated" }]);
});

test("a message over 8 KiB, or any after the first, ends the connection", async () => {
  const large = await open();
  large.socket.send("x".repeat(8 * 1024 + 1));
  expect(await large.closed).toBe(1009);
  const client = await connect(await product.join());
  client.socket.send("again");
  expect(await client.closed).toBe(1008);
});

test("silence for five seconds closes with 4401", async () => {
  const start = performance.now();
  const client = await open();
  expect(await client.closed).toBe(4401);
  expect(performance.now() - start).toBeGreaterThan(4_900);
});

test("signing out cuts that sign-in's open sockets at once, and leaves the person's others", async () => {
  const session = await product.join("sockets@example.com");
  const other = (await product.signIn("sockets@example.com")).json<Session>();
  const [cut, kept] = [await connect(session), await connect(other)];
  await product.post("/api/auth/sign-out", { refresh_token: session.refresh_token });
  expect(await cut.closed).toBe(4403);
  expect(cut.messages.at(-1)).toEqual({ type: "closed", code: "session_revoked" });
  await product.deps.live.publish({ userId: session.user.id, table: "wallets" });
  await vi.waitFor(() => expect(kept.messages.at(-1)).toMatchObject({ type: "change", table: "wallets" }), 5_000);
});

test("a ban and a reused refresh token cut the open sockets", async () => {
  const banned = await product.join();
  const first = await connect(banned);
  await product.db.updateTable("users").set({ banned_at: new Date() }).where("id", "=", banned.user.id).execute();
  await product.deps.live.publish({ userId: banned.user.id, table: "session" });
  expect(await first.closed).toBe(4403);

  const stolen = await product.join();
  const second = await connect(stolen);
  await product.post("/api/auth/refresh", { refresh_token: stolen.refresh_token });
  await product.db
    .updateTable("auth_sessions")
    .set({ rotated_at: new Date(Date.now() - 60_000) })
    .where("user_id", "=", stolen.user.id)
    .execute();
  await product.post("/api/auth/refresh", { refresh_token: stolen.refresh_token });
  expect(await second.closed).toBe(4403);
});

test("after the fan-out was interrupted, every page is told to check again", async () => {
  const client = await connect(await product.join());
  await product.deps.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tessera live' and datname = current_database()",
  );
  await vi.waitFor(() => expect(client.messages.at(-1)).toMatchObject({ type: "change", table: "user_subscriptions" }), 10_000);
});
