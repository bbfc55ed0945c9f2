/** The panel of two-step sign-in in every state, and the notice on every page when somebody asks for its removal. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import text from "#client/i18n/locales/en/account.json" with { type: "json" };
import refusals from "#client/i18n/locales/en/refusals.json" with { type: "json" };
import steps from "#client/i18n/locales/en/steps.json" with { type: "json" };
import { formatDate, formatDateTime } from "#client/lib/format.ts";
import type { FactorReset } from "#contract/auth/factor-reset.ts";
import type { Factors, TotpSetUp } from "#contract/auth/factors.ts";
import { full } from "#tests/support/full.ts";
import { hasTurn } from "#tests/support/turns.ts";
import type { Site } from "./frame-support.ts";
import { account, onStubbedSite, open } from "./states-support.ts";

/** On the days on which its walk with the server (tests/e2e/two-step.test.ts) is not taken. */
const isToday = hasTurn("screensOfWaysIn", "two-step");

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const factorsCall = "GET /api/account/factors";
const beginCall = "POST /api/account/factors/totp";
const confirmCall = "POST /api/account/factors/totp/confirm";
const off: Factors = { totp: null, recoveryCodesLeft: 0 };
const since = "2026-03-01T11:00:00.000Z";
const on: Factors = { totp: { since, lastUsedAt: null }, recoveryCodesLeft: 8 };
const secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";
const setUp: TotpSetUp = { secret, uri: `otpauth://totp/Tessera:maria%40example.com?issuer=Tessera&secret=${secret}`, setUp: "sealed" };
const recoveryCodes = Array.from({ length: 10 }, (_, index) => `a${index}b2-c3d4-e5f6-g7h8-j9k0-m1n2`);

const panel = () => page.getByRole("region", { name: new RegExp(`^${text.twoStep.title}`) });
const button = (name: string) => panel().getByRole("button", { name, exact: true });
const says = (words: string) => panel().getByText(words, { exact: true }).waitFor();
const dialog = (name: string) => page.getByRole("dialog", { name, exact: true });
const hasFocus = (name: string) => page.getByRole("heading", { name }).evaluate((element) => element === document.activeElement);

async function visit(factors: Factors): Promise<void> {
  api.answer("GET /api/account/sessions", { sessions: [] });
  api.answer("GET /api/account/activity", { events: [], nextCursor: null });
  api.answer("GET /api/account/step-up", { ways: ["password"] });
  api.answer(factorsCall, factors);
  page = await open(site, "/profile/security", { member: true });
}

/** Goes to the step with the picture and the key. */
async function begin(): Promise<void> {
  await visit(off);
  await says(text.twoStep.off);
  api.answer(beginCall, setUp);
  await button(text.twoStep.setUp).click();
  await panel().getByRole("heading", { name: text.twoStep.app.title }).waitFor();
}

it.runIf(isToday)("sets up an app: a picture, the key in groups, its first code, and the codes until they are kept", async () => {
  await begin();
  expect(await hasFocus(text.twoStep.app.title)).toBe(true);
  await panel().getByRole("img", { name: text.twoStep.app.qr }).waitFor();
  await says("JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP");
  await button(text.twoStep.app.submit).click();
  await says("Enter the code");
  api.refuse(confirmCall, 403, "wrong_code");
  await panel().getByLabel("Code", { exact: true }).fill("123456");
  await page.keyboard.press("Enter");
  await panel().getByRole("alert").waitFor();
  api.answer(confirmCall, { recoveryCodes });
  api.answer(factorsCall, on);
  await page.keyboard.press("Enter");
  await panel().getByRole("heading", { name: text.twoStep.codes.title }).waitFor();
  expect(await hasFocus(text.twoStep.codes.title)).toBe(true);
  expect(await panel().getByRole("listitem").allTextContents()).toEqual(recoveryCodes);
  expect(api.calls(confirmCall).at(-1)?.body).toEqual({ setUp: "sealed", code: "123456" });
  const [download] = await Promise.all([page.waitForEvent("download"), button(text.twoStep.codes.download).click()]);
  expect(download.suggestedFilename()).toBe("tessera-recovery-codes.txt");
  await button(text.twoStep.codes.kept).click();
  await says(text.twoStep.since.replace("{{date}}", formatDate(since, "en")));
  await says("8 recovery codes left");
  expect(await hasFocus(text.twoStep.title)).toBe(true);
  expect(
    await panel()
      .getByText(recoveryCodes[0] ?? "")
      .count(),
  ).toBe(0);
});

it.runIf(isToday)("begins again when the set-up took too long, and leaves it when the person cancels", async () => {
  await begin();
  api.refuse(confirmCall, 409, "set_up_expired");
  await panel().getByLabel("Code", { exact: true }).fill("123456");
  await page.keyboard.press("Enter");
  await says(refusals.set_up_expired);
  await button(text.twoStep.setUp).click();
  await button("Cancel").click();
  await button(text.twoStep.setUp).waitFor();
});

it.runIf(isToday)("asks for a factor first, and changes nothing when the person gives up there", async () => {
  await visit(on);
  api.refuse("DELETE /api/account/factors/totp", 403, "step_up_required");
  await button(text.twoStep.turnOff.action).click();
  await dialog(text.twoStep.turnOff.title).getByRole("button", { name: text.twoStep.turnOff.action }).click();
  await dialog(text.stepUp.title).waitFor();
  await page.keyboard.press("Escape");
  await dialog(text.stepUp.title).waitFor({ state: "hidden" });
  const confirm = dialog(text.twoStep.turnOff.title).getByRole("button", { name: text.twoStep.turnOff.action });
  await confirm.click();
  await dialog(text.stepUp.title).getByLabel("Password", { exact: true }).fill("a tessera 4 two");
  api.answer("POST /api/account/step-up", null);
  const user = { id: account.id, email: account.email, user_metadata: { avatar_url: null } };
  const tokens = { access_token: "next", refresh_token: "next", expires_at: 4_102_444_800, expires_in: 600, token_type: "bearer" as const };
  api.answer("POST /api/auth/refresh", { ...tokens, user });
  api.answer("DELETE /api/account/factors/totp", null);
  api.answer(factorsCall, off);
  await page.keyboard.press("Enter");
  await page.getByText(text.twoStep.turnOff.done, { exact: true }).waitFor();
  // The tokens from before the factor are not used any more.
  expect(api.calls("DELETE /api/account/factors/totp").at(-1)?.headers.authorization).toBe("Bearer next");
  await button(text.twoStep.setUp).waitFor();
  expect(await hasFocus(text.twoStep.title)).toBe(true);
});

it.runIf(full)("says when a code was last used, and never that it will be, though this device's clock is behind", async () => {
  await visit({ ...on, totp: { since, lastUsedAt: "2099-01-01T00:00:00.000Z" } });
  await says("A code was last used 0 seconds ago");
});

it.runIf(isToday)("warns when few codes are left, and makes new ones after a question", async () => {
  await visit({ ...on, recoveryCodesLeft: 3 });
  await panel().getByRole("alert").getByText("72 hours").waitFor();
  await button(text.twoStep.renew.action).click();
  api.answer("POST /api/account/factors/recovery-codes", { recoveryCodes });
  api.answer(factorsCall, { ...on, recoveryCodesLeft: 10 });
  await dialog(text.twoStep.renew.title).getByRole("button", { name: text.twoStep.renew.submit }).click();
  await panel().getByRole("heading", { name: text.twoStep.codes.title }).waitFor();
  await button(text.twoStep.codes.kept).click();
  await says("10 recovery codes left");
  expect(await panel().getByRole("alert").count()).toBe(0);
});

it.runIf(isToday)("says when it could not be read, tries again, and says why it can't be set up without a connection", async () => {
  await visit(off);
  api.refuse(factorsCall, 503, "service_unavailable");
  await page.reload();
  await says(text.twoStep.loadFailed);
  api.answer(factorsCall, off);
  await button(text.retry).click();
  await button(text.twoStep.setUp).waitFor();
  await page.context().setOffline(true);
  await button(text.twoStep.setUp).click();
  await panel().getByRole("alert").waitFor();
});

it.runIf(isToday)("shows on any page that somebody wants it removed, and cancels that with one click", async () => {
  const reset: FactorReset = { status: "waiting", askedAt: since, until: "2026-03-04T11:00:00.000Z" };
  api.answer("GET /api/account/factor-reset", { reset });
  await openSocket();
  const notice = page
    .getByRole("alert")
    .filter({ hasText: text.lost.notice.waiting.replace("{{time}}", formatDateTime(reset.until, "en")) });
  await notice.waitFor();
  const cancel = notice.getByRole("button", { name: text.lost.notice.submit });
  await cancel.click();
  await page.getByText("The service can't be reached right now.").first().waitFor();
  api.answer("DELETE /api/account/factor-reset", null);
  await cancel.click();
  await page.getByText(text.lost.notice.done, { exact: true }).waitFor();
  expect(await notice.count()).toBe(0);
});

it.runIf(isToday)("says why a request is not cancelled from here", async () => {
  const reset: FactorReset = { status: "waiting", askedAt: since, until: "2026-03-04T11:00:00.000Z" };
  api.answer("GET /api/account/factor-reset", { reset });
  await openSocket();
  api.refuse("DELETE /api/account/factor-reset", 403, "way_too_new");
  await page.getByRole("button", { name: text.lost.notice.submit }).click();
  await page.getByText(refusals.way_too_new, { exact: true }).waitFor();
});

const phone = { width: 390, height: 844 };

it.each(full ? [phone, { width: 1440, height: 900 }] : [phone])(
  "the link of a mail about a new way shows what it removes (%j)",
  async (viewport) => {
    const ways = [
      { kind: "passkey" as const, addedAt: since },
      { kind: "totp" as const, addedAt: "2026-03-02T07:30:00.000Z" },
      { kind: "google" as const, addedAt: "2026-03-03T22:10:00.000Z" },
    ];
    api.answer("POST /api/auth/way-link", { email: account.email, ways });
    page = await open(site, "/auth?disown=a.token", { viewport });
    const submit = () => page.getByRole("button", { name: steps.disown.submit });
    await submit().waitFor();
    expect(new URL(page.url()).search).toBe("");
    for (const { kind, addedAt } of ways)
      await page.getByText(steps.disown.ways[kind].replace("{{time}}", formatDateTime(addedAt, "en")), { exact: true }).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(api.calls("POST /api/auth/disown-way")).toHaveLength(0);
    api.refuse("POST /api/auth/disown-way", 429, "too_many_attempts", { retryAfterSeconds: 60 });
    await submit().click();
    await page.getByRole("main").getByRole("alert").waitFor();

    api.answer("POST /api/auth/disown-way", { email: account.email, token: "next.token" });
    api.answer("POST /api/auth/recovery-link", { email: account.email });
    page = await open(site, "/auth?disown=a.token", { viewport });
    await submit().click();
    await page.getByRole("textbox", { name: "New password" }).waitFor();
    expect(api.calls("POST /api/auth/recovery-link").map(({ body }) => body)).toEqual([{ token: "next.token" }]);

    api.answer("POST /api/auth/way-link", { email: account.email, ways: [] });
    page = await open(site, "/auth?disown=a.token", { viewport });
    await page.getByText(steps.disown.none.split("<")[0] ?? "").waitFor();
    api.refuse("POST /api/auth/way-link", 400, "link_invalid");
    page = await open(site, "/auth?disown=a.token", { viewport });
    await page.getByText(steps.undo.spent.replace("{{days}}", "7")).waitFor();
  },
);

/** The home page, signed in, with a socket that says that it listens. */
async function openSocket(): Promise<void> {
  page = await open(site, "/about", { member: true, fresh: true });
  await page.routeWebSocket("**/api/realtime", (socket) => {
    socket.onMessage(() => socket.send(JSON.stringify({ type: "ready", server_time: since })));
  });
  await page.reload();
  await page.locator("html[data-live]").waitFor({ state: "attached" });
}
