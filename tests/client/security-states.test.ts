/** The page of an account's security: where one is signed in and what was done, in every state. */
import type { Page, WebSocketRoute } from "playwright-core";
import { expect, it } from "vitest";
import access from "#client/i18n/locales/en/access.json" with { type: "json" };
import text from "#client/i18n/locales/en/account.json" with { type: "json" };
import type { Activity } from "#contract/account/activity.ts";
import type { OwnSession } from "#contract/auth/security.ts";
import type { Session } from "#contract/auth/sign-in.ts";
import { full } from "#tests/support/full.ts";
import type { Site } from "./frame-support.ts";
import { account, onStubbedSite, open, sessionOf } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const sessionsCall = "GET /api/account/sessions";
const endOthersCall = "DELETE /api/account/sessions";
const activityCall = "GET /api/account/activity";

const here: OwnSession = {
  id: "0198a3a4-7c5e-7c3f-8a4e-0c5a6f1d2e01",
  current: true,
  browser: "Chrome",
  system: "Windows",
  timeZone: "America/Argentina/Buenos_Aires",
  createdAt: "2026-03-01T11:00:00.000Z",
  lastUsedAt: "2026-03-10T11:00:00.000Z",
};
const phone: OwnSession = {
  ...{ ...here, id: "0198a3a4-7c5e-7c3f-8a4e-0c5a6f1d2e02", current: false },
  ...{ browser: "Safari", system: "iPhone", timeZone: "UTC" },
};
const unknown: OwnSession = { ...phone, id: "0198a3a4-7c5e-7c3f-8a4e-0c5a6f1d2e03", browser: null, system: null, timeZone: null };

const eventOf = (number: number, act: Pick<Activity, "action" | "details">, network: string | null = null): Activity => ({
  ...{ id: `0198a3a4-7c5e-7c3f-8a4e-0c5a6f1d3${String(number).padStart(3, "0")}`, at: "2026-03-10T11:00:00.000Z" },
  ...{ ...act, network },
});
const changed = { action: "password.changed", details: { proof: "current_password" } };
const signedIn = { action: "sign_in.completed", details: { factor: "password", second: "totp" } };

const panel = (title: string) => page.getByRole("region", { name: title, exact: true });
const sessions = () => panel(text.sessions.title);
const activity = () => panel(access.acts.title);
const lines = () => activity().getByRole("listitem");
const toast = (words: string) => page.getByText(words, { exact: true }).waitFor();

async function visit(list: OwnSession[], events: Activity[] = [], nextCursor: string | null = null): Promise<void> {
  api.answer(sessionsCall, { sessions: list });
  api.answer(activityCall, { events, nextCursor });
  page = await open(site, "/profile/security", { member: true });
}

it("lists where the person is signed in, and says what is not known", async () => {
  await visit([here, phone, unknown]);
  const rows = sessions().getByRole("listitem");
  await expect.poll(() => rows.count()).toBe(3);
  expect(await rows.nth(0).textContent()).toMatch(/^Chrome on WindowsThis deviceTime zone: Buenos AiresLast used /);
  expect(await rows.nth(0).getByRole("button").count()).toBe(0);
  expect(await rows.nth(1).textContent()).toMatch(/^Safari on iPhoneLast used .*Signed in on March 1, 2026/);
  expect(await rows.nth(2).textContent()).toMatch(/^Unknown deviceLast used /);
});

it("signs out one device, and shows why when it can't", async () => {
  await visit([here, phone, unknown]);
  const button = sessions().getByRole("button", { name: "Sign out Safari on iPhone" });
  await button.click();
  await sessions().getByRole("alert").waitFor();
  api.answerAt("DELETE /api/account/sessions/:id", phone.id, null);
  const answer = api.hold(`DELETE /api/account/sessions/${phone.id}` as never);
  await button.click();
  await sessions().getByText(text.sessions.ending, { exact: true }).waitFor();
  api.answer(sessionsCall, { sessions: [here, unknown] });
  api.answer(activityCall, {
    events: [eventOf(1, { action: "session.ended", details: { reason: "signed_out_elsewhere", sessions: 1 } })],
    nextCursor: null,
  });
  answer();
  await toast("Signed out: Safari on iPhone");
  await expect.poll(() => sessions().getByRole("listitem").count()).toBe(2);
  expect(await sessions().getByRole("alert").count()).toBe(0);
  await activity().getByText("1 other device signed out", { exact: true }).waitFor();
});

it("signs out all others after a question, and stays when they could not be reached", async () => {
  await visit([here, phone, unknown]);
  const open = sessions().getByRole("button", { name: text.sessions.endOthers, exact: true });
  await open.click();
  const dialog = page.getByRole("dialog", { name: text.sessions.confirmTitle });
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "hidden" });
  expect(api.calls(endOthersCall)).toHaveLength(0);
  await open.click();
  const confirm = dialog.getByRole("button", { name: text.sessions.endOthers });
  await confirm.click();
  await dialog.getByRole("alert").waitFor();
  api.answer(endOthersCall, { ended: 2 });
  api.answer(sessionsCall, { sessions: [here] });
  await confirm.click();
  await toast("2 devices are signed out");
  const heading = sessions().getByRole("heading", { name: text.sessions.title });
  await expect.poll(() => heading.evaluate((element) => element === document.activeElement)).toBe(true);
  await sessions().getByText(text.sessions.onlyHere, { exact: true }).waitFor();
  expect(await sessions().getByRole("button").count()).toBe(0);
});

it("lists what was done, the newest first, and more on demand without a repetition", async () => {
  await visit([here], [eventOf(9, changed, "203.0.113.0/24"), eventOf(8, signedIn, "2001:db8:7::/48")], "older");
  await expect.poll(() => lines().count()).toBe(2);
  expect(await lines().nth(0).textContent()).toMatch(/^Password changed.*from 203\.0\.113\.x$/);
  expect(await lines().nth(1).textContent()).toMatch(/^Signed in \(password and authenticator app\).*from 2001:db8:7:x$/);
  const more = activity().getByRole("button", { name: access.acts.more });
  api.refuse(activityCall, 503, "service_unavailable");
  await more.click();
  await activity().getByRole("alert").waitFor();
  expect(await lines().count()).toBe(2);
  const older = eventOf(7, { action: "recovery_code.used", details: { left: 1 } });
  api.answer(activityCall, {
    events: [eventOf(8, signedIn), older, eventOf(6, { action: "of.a.newer.server", details: {} })],
    nextCursor: null,
  });
  await more.click();
  await expect.poll(() => lines().count()).toBe(4);
  expect(await lines().nth(2).textContent()).toMatch(/^Recovery code used, 1 is left/);
  expect(await lines().nth(3).textContent()).toContain(access.acts.other);
  expect(await activity().getByRole("button").count()).toBe(0);
});

it.runIf(full)("reads both again when the page comes to the front, and keeps what it shows when that fails", async () => {
  await visit([here], [eventOf(1, signedIn)]);
  await expect.poll(() => lines().count()).toBe(1);
  api.answer(sessionsCall, { sessions: [here, phone] });
  api.answer(activityCall, { events: [eventOf(2, changed), eventOf(1, signedIn)], nextCursor: null });
  const front = () => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await front();
  await expect.poll(() => lines().count()).toBe(2);
  await sessions().getByText("Safari on iPhone").waitFor();
  const before = api.calls(sessionsCall).length;
  api.refuse(sessionsCall, 503, "service_unavailable");
  api.refuse(activityCall, 503, "service_unavailable");
  await front();
  await expect.poll(() => api.calls(sessionsCall).length).toBe(before + 1);
  expect(await sessions().getByRole("listitem").count()).toBe(2);
  expect(await lines().count()).toBe(2);
});

it("holds the place of the lists while they are read, says when they could not be, and tries again", async () => {
  api.refuse(sessionsCall, 503, "service_unavailable");
  api.refuse(activityCall, 503, "service_unavailable");
  const answers = [api.hold(sessionsCall), api.hold(activityCall)];
  page = await open(site, "/profile/security", { member: true });
  await sessions().getByRole("status").waitFor();
  await activity().getByRole("status").waitFor();
  for (const answer of answers) answer();
  await sessions().getByText(text.sessions.loadFailed, { exact: true }).waitFor();
  await activity().getByText(access.acts.loadFailed, { exact: true }).waitFor();
  api.answer(sessionsCall, { sessions: [here] });
  api.answer(activityCall, { events: [], nextCursor: null });
  await sessions().getByRole("button", { name: text.retry }).click();
  await sessions().getByText(text.sessions.onlyHere, { exact: true }).waitFor();
  await activity().getByRole("button", { name: text.retry }).click();
  await activity().getByText(access.acts.empty, { exact: true }).waitFor();
});

it("can be left in every section of the account: signing out is at the top of each", async () => {
  for (const section of ["", "/billing", "/usage", "/security", "/notifications", "/data"]) {
    page = await open(site, `/profile${section}`, { member: true });
    await page.getByRole("main").getByRole("button", { name: text.signOut, exact: true }).waitFor();
  }
  api.answer("POST /api/auth/sign-out", null);
  await page.getByRole("button", { name: text.signOut, exact: true }).click();
  await page.getByText(text.signedOutTitle, { exact: true }).waitFor();
  // The page is signed out before the server is told.
  await expect.poll(() => api.calls("POST /api/auth/sign-out").map(({ body }) => body)).toEqual([{ refresh_token: "refresh" }]);
});

it("what changed elsewhere while the socket was away is shown when it listens again", async () => {
  api.answer(sessionsCall, { sessions: [here] });
  api.answer(activityCall, { events: [], nextCursor: null });
  // A page of its own, because the socket stays with the page.
  page = await open(site, "/profile/security", { member: true, fresh: true });
  const rows = sessions().getByRole("listitem");
  await expect.poll(() => rows.count()).toBe(1);
  api.answer(sessionsCall, { sessions: [here, phone] });
  const sockets: WebSocketRoute[] = [];
  // The page had no socket until now, so it tries again within seconds.
  await page.routeWebSocket("**/api/realtime", (opened) => {
    sockets.push(opened);
    opened.onMessage(() => opened.send(JSON.stringify({ type: "ready", server_time: here.lastUsedAt })));
  });
  await expect.poll(() => rows.count()).toBe(2);

  await page.goto(`${site.address}/profile`);
  const main = page.getByRole("main");
  await main.getByText("January 14, 2025").waitFor();
  await expect.poll(() => sockets.length).toBe(2);
  const now = { ...account, email: "maria@new.example", createdAt: "2025-02-20T09:30:00.000Z" };
  api.answer("GET /api/account", now);
  const session = JSON.parse(sessionOf()) as Session;
  api.answer("POST /api/auth/refresh", { ...session, user: { ...session.user, email: now.email } });
  await sockets.at(-1)?.close();
  await main.getByText("February 20, 2025").waitFor();
  await page.getByRole("banner").getByTitle(now.email).waitFor();
});
