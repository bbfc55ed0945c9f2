import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import type { Session } from "#contract/auth/sign-in.ts";
import type { RealtimeMessage } from "#contract/realtime.ts";
import { realtimeTables } from "#contract/realtime.ts";
import { linkToken } from "#server/features/notifications/links.ts";
import type { LiveEvent, LiveEvents } from "#server/http/live-events.ts";
import { createLiveEvents } from "#server/http/live-events.ts";
import { isOwnOrigin } from "#server/http/realtime.ts";
import { startRedis } from "#tests/support/redis.ts";
import { startTcpProxy } from "#tests/support/tcp-proxy.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp, password } from "./auth-support.ts";

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
  /** Resolves with the close code. */
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
  await vi.waitFor(() => expect(client.messages[0]).toMatchObject({ type: "ready" }), 15_000);
  return client;
}

test("a change to a person's rows is pushed to all their pages and to nobody else's", async () => {
  const [session, other] = [await product.join(), await product.join()];
  const [first, second, foreign] = [await connect(session), await connect(session), await connect(other)];
  const change = { type: "change", table: "user_subscriptions", user_id: session.user.id };
  // A notification sent before the process listens is lost, so publish until one arrives; clients check again on connecting.
  await vi.waitFor(async () => {
    await product.deps.live.publish({ userId: session.user.id, table: "user_subscriptions" });
    expect(first.messages).toContainEqual(change);
    expect(second.messages).toContainEqual(change);
  }, 15_000);
  const marker = { type: "change", table: "wallets", user_id: other.user.id };
  await product.deps.live.publish({ userId: other.user.id, table: "wallets" });
  await vi.waitFor(() => expect(foreign.messages).toContainEqual(marker), 15_000);
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

test("a handshake from the product's own address is accepted, also under its public name", async () => {
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

test("a connection that stays silent for five seconds is closed with 4401", async () => {
  const start = performance.now();
  const client = await open();
  expect(await client.closed).toBe(4401);
  expect(performance.now() - start).toBeGreaterThan(4_900);
});

test("signing out closes that session's sockets at once and leaves the person's others open", async () => {
  const session = await product.join("sockets@example.com");
  const other = (await product.signIn("sockets@example.com")).json<Session>();
  const [cut, kept] = [await connect(session), await connect(other)];
  await product.post("/api/auth/sign-out", { refresh_token: session.refresh_token });
  expect(await cut.closed).toBe(4403);
  expect(cut.messages.at(-1)).toEqual({ type: "closed", code: "session_revoked" });
  await product.deps.live.publish({ userId: session.user.id, table: "wallets" });
  await vi.waitFor(() => expect(kept.messages.at(-1)).toMatchObject({ type: "change", table: "wallets" }), 15_000);
});

test("a ban or a reused refresh token closes the open sockets", async () => {
  const banned = await product.join();
  const first = await connect(banned);
  await product.db.updateTable("users").set({ banned_at: new Date() }).where("id", "=", banned.user.id).execute();
  await product.deps.live.publish({ userId: banned.user.id, table: "session" });
  expect(await first.closed).toBe(4403);

  const stolen = await product.join();
  const second = await connect(stolen);
  const next = (await product.post("/api/auth/refresh", { refresh_token: stolen.refresh_token })).json<Session>();
  expect((await product.get("/api/account", next.access_token)).statusCode).toBe(200);
  await product.db
    .updateTable("auth_sessions")
    .set({ rotated_at: new Date(Date.now() - 60_000) })
    .where("user_id", "=", stolen.user.id)
    .execute();
  await product.post("/api/auth/refresh", { refresh_token: stolen.refresh_token });
  expect(await second.closed).toBe(4403);
});

test("another password closes the sockets of every other session; one chosen by a mailed link closes all of them", async () => {
  const email = "new-password@example.com";
  const session = await product.join(email);
  const other = (await product.signIn(email)).json<Session>();
  const [kept, cut] = [await connect(session), await connect(other)];
  const headers = { authorization: `Bearer ${session.access_token}` };
  const changed = await product.post("/api/account/password", { currentPassword: password, password: "a new secret 7" }, { headers });
  expect(changed.statusCode).toBe(204);
  expect(await cut.closed).toBe(4403);
  expect(kept.socket.readyState).toBe(WebSocket.OPEN);
  expect((await product.post("/api/auth/refresh", { refresh_token: other.refresh_token })).statusCode).toBe(401);

  await product.post("/api/auth/recover", { email });
  const mail = await product.db.selectFrom("mails").select("parameters").where("template", "=", "password-reset").executeTakeFirstOrThrow();
  const token = linkToken(product.config, String(mail.parameters.linkId));
  expect((await product.post("/api/auth/reset-password", { token, password: "another secret 8" })).statusCode).toBeLessThan(300);
  expect(await kept.closed).toBe(4403);
  expect((await product.get("/api/account", session.access_token)).statusCode).toBe(401);
});

test("after an interruption of the notifications every page is told to check again", async () => {
  const client = await connect(await product.join());
  await product.deps.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tessera live' and datname = current_database()",
  );
  const told = () => new Set(client.messages.flatMap((message) => (message.type === "change" ? [message.table] : [])));
  await vi.waitFor(() => expect(told()).toEqual(new Set(realtimeTables)), 15_000);
});

/** Waits until events published by `here` reach `elsewhere`; returns the growing list of what `elsewhere` receives. */
async function bothConnected(here: LiveEvents, elsewhere: LiveEvents): Promise<(LiveEvent | "resync")[]> {
  const heard: (LiveEvent | "resync")[] = [];
  elsewhere.subscribe((event) => heard.push(event));
  const event = { userId: randomUUID(), table: "generations" } as const;
  await vi.waitFor(async () => {
    await here.publish(event);
    expect(heard).toContainEqual(event);
  }, 15_000);
  return heard;
}

test("events a process can't publish while cut off from Redis reach the other processes when it is connected again", async () => {
  const redis = await startRedis();
  const way = await startTcpProxy({ host: "127.0.0.1", port: redis.port });
  const { databaseUrl } = product.deps.config;
  const here = createLiveEvents({ databaseUrl, redisUrl: `redis://127.0.0.1:${way.port}` }, product.deps.pool);
  const elsewhere = createLiveEvents({ databaseUrl, redisUrl: redis.url }, product.deps.pool);
  const heard = await bothConnected(here, elsewhere);
  await way.cut();
  await vi.waitFor(() => expect(here.ping()).rejects.toThrow(), 15_000);
  const missed = { userId: randomUUID(), table: "wallets" } as const;
  await here.publish(missed);
  await way.mend();
  await vi.waitFor(() => expect(heard).toContainEqual(missed), 15_000);
  expect(heard).not.toContain("resync");
  await Promise.all([here.close(), elsewhere.close(), way.cut()]);
  await redis.stop();
});

test("a process that lost Redis is told to check again once it receives events again", async () => {
  const redis = await startRedis();
  const config = { databaseUrl: product.deps.config.databaseUrl, redisUrl: redis.url };
  const [here, elsewhere] = [createLiveEvents(config, product.deps.pool), createLiveEvents(config, product.deps.pool)];
  const heard = await bothConnected(here, elsewhere);
  await redis.kill();
  await vi.waitFor(async () => {
    const pings = await Promise.allSettled([elsewhere.ping(), here.ping()]);
    expect(pings.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  }, 15_000);
  const back = await startRedis(redis.port);
  await vi.waitFor(() => expect(heard).toContain("resync"), 15_000);
  const later = { userId: randomUUID(), table: "wallets" } as const;
  await here.publish(later);
  await vi.waitFor(() => expect(heard.at(-1)).toEqual(later), 15_000);
  await Promise.all([here.close(), elsewhere.close()]);
  await back.stop();
});
