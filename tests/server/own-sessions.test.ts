/** A person sees where they are signed in and what was done to their account, and ends sessions; nobody sees or ends another's. */
import type { AddressInfo } from "node:net";
import type { InjectOptions } from "fastify";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Activity } from "#contract/account/activity.ts";
import type { OwnSession } from "#contract/auth/security.ts";
import type { Session } from "#contract/auth/sign-in.ts";
import { recordAct } from "#server/db/audit.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp, password } from "./auth-support.ts";

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
  await product.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => product.close());
beforeEach(() => product.asOwner("delete from auth_attempts"));

const firefoxOnLinux = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const safariOnIphone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";

async function signInFrom(email: string, headers: Record<string, string>, remoteAddress = "203.0.113.9"): Promise<Session> {
  const answer = await product.post("/api/auth/sign-in", { email, password }, { headers, remoteAddress });
  return answer.json<Session>();
}

function callAs({ access_token }: Session, method: InjectOptions["method"] & string, url: string) {
  return product.app.inject({ method: method as "GET", url, headers: { authorization: `Bearer ${access_token}` } });
}

async function sessionsOf(session: Session): Promise<OwnSession[]> {
  return (await callAs(session, "GET", "/api/account/sessions")).json<{ sessions: OwnSession[] }>().sessions;
}

async function statusOf(session: Session): Promise<number> {
  return (await product.get("/api/account", session.access_token)).statusCode;
}

/** Resolves with an open socket of the session; `closed` with its close code. */
async function openSocket(session: Session) {
  const { port } = product.app.server.address() as AddressInfo;
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/realtime`, { headers: { origin: `http://127.0.0.1:${port}` } });
  const closed = new Promise<number>((resolve) => socket.on("close", resolve));
  await new Promise((resolve) => socket.once("open", resolve));
  socket.send(JSON.stringify({ type: "authenticate", access_token: session.access_token }));
  await new Promise((resolve) => socket.once("message", resolve));
  return { socket, closed };
}

test("each session is listed with its device, the time zone its browser names, and its first and last use", async () => {
  const email = "listed@example.com";
  await product.join(email);
  const first = await signInFrom(email, { "user-agent": firefoxOnLinux, "x-time-zone": "europe/berlin" });
  const phone = await signInFrom(email, { "user-agent": safariOnIphone, "x-time-zone": "Mars/Olympus_Mons" });
  const [mine, other, joined, ...rest] = await sessionsOf(phone);
  expect(rest).toEqual([]);
  expect(mine).toMatchObject({ current: true, browser: "Safari", system: "iPhone", timeZone: null });
  expect(other).toMatchObject({ current: false, browser: "Firefox", system: "Linux", timeZone: "Europe/Berlin" });
  expect(joined).toMatchObject({ current: false, browser: null, system: null, timeZone: null });
  expect(other?.lastUsedAt).toBe(other?.createdAt);

  // A refresh is a use, and says where the browser is now.
  const headers = { "x-time-zone": "Asia/Tokyo" };
  const next = (await product.post("/api/auth/refresh", { refresh_token: first.refresh_token }, { headers })).json<Session>();
  const [moved] = await sessionsOf(next);
  expect(moved).toMatchObject({ current: true, browser: "Firefox", timeZone: "Asia/Tokyo", createdAt: other?.createdAt });
  expect(Date.parse(moved?.lastUsedAt ?? "")).toBeGreaterThan(Date.parse(other?.lastUsedAt ?? ""));
  // One that names no zone leaves the last one.
  await product.post("/api/auth/refresh", { refresh_token: next.refresh_token });
  expect((await sessionsOf(next))[0]).toMatchObject({ timeZone: "Asia/Tokyo" });
});

test("a session that is ended from another device is refused at its next call, and its open socket is closed", async () => {
  const email = "ended@example.com";
  const mine = await product.join(email);
  const lost = await signInFrom(email, { "user-agent": safariOnIphone });
  const [kept, cut] = [await openSocket(mine), await openSocket(lost)];
  const listed = (await sessionsOf(mine)).find(({ current }) => !current);
  expect((await callAs(mine, "DELETE", `/api/account/sessions/${listed?.id}`)).statusCode).toBe(204);
  expect(await cut.closed).toBe(4403);
  expect([await statusOf(lost), await statusOf(mine)]).toEqual([401, 200]);
  expect((await product.post("/api/auth/refresh", { refresh_token: lost.refresh_token })).statusCode).toBe(401);
  expect(await sessionsOf(mine)).toHaveLength(1);
  expect(kept.socket.readyState).toBe(WebSocket.OPEN);
  kept.socket.terminate();
  // A second time there is nothing to end.
  expect((await callAs(mine, "DELETE", `/api/account/sessions/${listed?.id}`)).statusCode).toBe(404);
});

test("signing out everywhere else ends all sessions but this one, and closes their sockets", async () => {
  const email = "everywhere@example.com";
  const others = [await product.join(email), await signInFrom(email, {})];
  const mine = await signInFrom(email, { "user-agent": firefoxOnLinux });
  const stranger = await product.join();
  const sockets = await Promise.all(others.map(openSocket));
  expect((await callAs(mine, "DELETE", "/api/account/sessions")).json()).toEqual({ ended: 2 });
  expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4403, 4403]);
  expect(await Promise.all([...others, mine, stranger].map(statusOf))).toEqual([401, 401, 200, 200]);
  expect((await callAs(mine, "DELETE", "/api/account/sessions")).json()).toEqual({ ended: 0 });
});

test("another person's session can be neither seen nor ended", async () => {
  const [mine, foreign] = [await product.join(), await product.join()];
  const [theirs] = await sessionsOf(foreign);
  expect((await callAs(mine, "DELETE", `/api/account/sessions/${theirs?.id}`)).json()).toMatchObject({ status: 404, code: "not_found" });
  expect(await statusOf(foreign)).toBe(200);
});

test("a person sees what was done to their account, newest first and page by page, with shortened networks of their own alone", async () => {
  const email = "active@example.com";
  const admin = await product.join("admin-active@example.com");
  const mine = await product.join(email, "203.0.113.77");
  for (let round = 0; round < 6; round += 1)
    await product.post("/api/auth/sign-in", { email, password: "wrong pass 1" }, { remoteAddress: "198.51.100.23" });
  const others = await signInFrom(email, {}, "2001:db8:1:2::3");
  await callAs(others, "DELETE", "/api/account/sessions");
  const act = { actor: admin.user.id, subject: mine.user.id, network: "192.0.2.1" };
  await recordAct(product.db, { ...act, action: "role.granted", details: { role: "admin", because: "named_in_admin_emails" } });

  const read = async (cursor?: string) => {
    const answer = await callAs(others, "GET", `/api/account/activity${cursor === undefined ? "" : `?cursor=${cursor}`}`);
    return answer.json<{ events: Activity[]; nextCursor: string | null }>();
  };
  const { events, nextCursor } = await read();
  expect(nextCursor).toBeNull();
  expect(events.map(({ action, network }) => [action, network])).toEqual([
    ["role.granted", null],
    ["session.ended", "127.0.0.0/24"],
    ["sign_in.completed", "2001:db8:1::/48"],
    ["sign_in.blocked", "198.51.100.0/24"],
    ["sign_in.completed", "203.0.113.0/24"],
    ["sign_up.confirmed", "203.0.113.0/24"],
  ]);
  expect(events[1]?.details).toEqual({ reason: "signed_out_elsewhere", sessions: 1 });

  const own = { actor: mine.user.id, subject: mine.user.id, network: null } as const;
  for (let count = 0; count < 40; count += 1)
    await recordAct(product.db, { ...own, action: "sign_in.completed", details: { factor: "password" } });
  const pages = [await read()];
  for (let cursor = pages[0]?.nextCursor; cursor; cursor = pages.at(-1)?.nextCursor) pages.push(await read(cursor));
  expect(pages.map((page) => page.events.length)).toEqual([20, 20, 6]);
  expect(new Set(pages.flatMap((page) => page.events.map(({ id }) => id))).size).toBe(46);
  expect(pages.at(-1)?.events).toEqual(events);

  expect((await callAs(others, "GET", "/api/account/activity?cursor=nonsense")).json()).toMatchObject({ code: "validation_failed" });
  const strangers = (await callAs(admin, "GET", "/api/account/activity")).json<{ events: Activity[] }>();
  expect(strangers.events.map(({ action }) => action)).toEqual(["sign_in.completed", "sign_up.confirmed"]);
});
