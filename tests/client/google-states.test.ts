/** Sign-in with Google on the page of sign-in and on the page of security, in every state that is not in tests/e2e/google.test.ts. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import text from "#client/i18n/locales/en/account.json" with { type: "json" };
import auth from "#client/i18n/locales/en/auth.json" with { type: "json" };
import errors from "#client/i18n/locales/en/errors.json" with { type: "json" };
import refusals from "#client/i18n/locales/en/refusals.json" with { type: "json" };
import steps from "#client/i18n/locales/en/steps.json" with { type: "json" };
import type { WaysIn } from "#contract/auth/security.ts";
import { daily } from "#tests/support/full.ts";
import { hasTurn } from "#tests/support/turns.ts";
import type { Site } from "./frame-support.ts";
import { account, onStubbedSite, open } from "./states-support.ts";

/** On the days on which its walk with the server (tests/e2e/google.test.ts) is not taken. */
const isToday = hasTurn("screensOfWaysIn", "google");

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const now = "2026-03-10T12:00:00.000Z";
const linked = { email: "maria@gmail.example", linkedAt: "2026-02-01T09:00:00.000Z" };
const says = (words: string) => page.getByText(words, { exact: true }).waitFor();
const panel = () => page.getByRole("region", { name: text.waysIn.title, exact: true });
const button = (name: string) => page.getByRole("button", { name, exact: true });
const there = () => api.answer("GET /api/environment", { sandboxUrl: null, google: true, notice: null, serverTime: now });
/** Stands for Google's page: a place of this site, so that no test leaves it. */
const googlesPage = () => `${site.address}/contact?googles-page`;

async function visit(ways: WaysIn, query = ""): Promise<void> {
  there();
  api.answer("GET /api/account/ways-in", ways);
  api.answer("GET /api/account/step-up", { ways: ways.password ? ["password"] : ["google"] });
  page = await open(site, `/profile/security${query}`, { member: true });
}

it.runIf(isToday)("the button is not there without Google, and there with it", async () => {
  page = await open(site, "/auth");
  await button(auth.signIn.submit).waitFor();
  expect(await button(auth.google.go).isVisible()).toBe(false);
  there();
  page = await open(site, "/auth");
  await button(auth.google.go).waitFor();
});

it.runIf(isToday)(
  "the button shows that Google is being opened, and what went wrong; it asks to come back to the page that was wanted",
  async () => {
    there();
    page = await open(site, "/auth?return=/pricing");
    await button(auth.google.go).click();
    await page.getByRole("alert").waitFor();
    const answer = api.hold("POST /api/auth/google");
    api.answer("POST /api/auth/google", { url: googlesPage() });
    await button(auth.google.go).click();
    await button(auth.google.busy).waitFor();
    answer();
    await page.waitForURL(googlesPage());
    expect(api.calls("POST /api/auth/google")[0]?.body).toEqual({ return: "/pricing" });
  },
);

it.runIf(isToday).each(daily(["google_denied", "google_expired", "google_refused", "google_unavailable", "google_unverified"] as const))(
  "the form says why Google did not sign in: %s",
  async (code) => {
    there();
    page = await open(site, `/auth?google=${code}`);
    await says(refusals[code]);
    await button(auth.signIn.submit).waitFor();
    expect(new URL(page.url()).search).toBe("");
  },
);

it.runIf(isToday)("a code that nobody knows is an error like any other, and its words are not shown", async () => {
  there();
  page = await open(site, "/auth?google=Send+your+password+to+evil.test");
  await says(errors.unexpected);
});

it.runIf(isToday)("an answer that could not be sent is said on the form", async () => {
  there();
  page = await open(site, "/auth?google=sign-in");
  await page.getByRole("alert").waitFor();
  await button(auth.google.go).waitFor();
});

it.runIf(isToday)("a person can keep Google apart from the account, and goes on", async () => {
  there();
  api.answer("POST /api/auth/google/finish", { status: "own_way_first", email: account.email });
  page = await open(site, "/auth?google=sign-in&return=/contact");
  await page.getByText("already has an account here").waitFor();
  const { id, email } = account;
  const user = { id, email, user_metadata: { avatar_url: null } };
  const tokens = {
    access_token: "access",
    refresh_token: "refresh",
    expires_at: 4_102_444_800,
    expires_in: 600,
    token_type: "bearer",
  } as const;
  api.answer("POST /api/auth/sign-in", { ...tokens, user });
  await page.getByLabel("Password", { exact: true }).fill("a tessera 4 two");
  await button(auth.signIn.submit).click();
  await page.getByRole("heading", { name: steps.google.link.title }).waitFor();
  await button(steps.google.link.yes).click();
  await page.getByRole("alert").waitFor();
  await button(steps.google.link.no).click();
  await page.waitForURL("**/contact");
});

it.runIf(isToday)("somebody who has Google alone can't unlink it, is told why, and gets a first password by mail", async () => {
  await visit({ password: false, google: linked, passkeys: 0 });
  await panel().getByText(linked.email).waitFor();
  await panel().getByText(text.waysIn.last).waitFor();
  expect(await button(text.waysIn.unlink).count()).toBe(0);
  expect(await button(text.password.submit).count()).toBe(0);
  await button(text.waysIn.choose).click();
  await panel().getByRole("alert").waitFor();
  api.answer("POST /api/auth/recover", { status: "check_email" });
  await button(text.waysIn.choose).click();
  await panel().getByText(`is on its way to ${account.email}`).waitFor();
  expect(api.calls("POST /api/auth/recover").at(-1)?.body).toEqual({ email: account.email });
});

it.runIf(isToday)("Google is unlinked after the person showed that it is they, and a refusal is shown", async () => {
  await visit({ password: true, google: linked, passkeys: 0 });
  api.refuse("DELETE /api/account/google", 409, "last_way_in");
  await button(text.waysIn.unlink).click();
  await panel().getByText(refusals.last_way_in).waitFor();
  api.refuse("DELETE /api/account/google", 403, "step_up_required");
  await button(text.waysIn.unlink).click();
  const dialog = page.getByRole("dialog", { name: text.stepUp.title });
  await dialog.getByRole("textbox").fill("a tessera 4 two");
  api.answer("POST /api/account/step-up", null);
  api.answer("DELETE /api/account/google", null);
  api.answer("GET /api/account/ways-in", { password: true, google: null, passkeys: 0 });
  await dialog.getByRole("button", { name: text.stepUp.submit }).click();
  await says(text.waysIn.unlinked);
  await button(text.waysIn.link).waitFor();
});

it.runIf(isToday)("linking leads to Google, and ends on the way back", async () => {
  await visit({ password: true, google: null, passkeys: 0 });
  api.answer("POST /api/account/google/begin", { url: googlesPage() });
  await button(text.waysIn.link).click();
  await page.waitForURL(googlesPage());
  api.answer("POST /api/account/google", linked);
  await visit({ password: true, google: linked, passkeys: 0 }, "?google=link");
  await says(text.waysIn.linked);
  expect(new URL(page.url()).search).toBe("");
  expect(api.calls("POST /api/account/google")).toHaveLength(1);
});

it.runIf(isToday)("somebody without a password shows by Google that it is they, and comes back to the page they were on", async () => {
  await visit({ password: false, google: linked, passkeys: 0 });
  api.answer("GET /api/account/ways-in", { password: true, google: linked, passkeys: 0 });
  api.refuse("DELETE /api/account/google", 403, "step_up_required");
  await page.reload();
  await button(text.waysIn.unlink).click();
  api.answer("POST /api/account/step-up/google", { url: googlesPage() });
  await page.getByRole("dialog", { name: text.stepUp.title }).getByRole("button", { name: auth.google.go }).click();
  await page.waitForURL(googlesPage());
  expect(api.calls("POST /api/account/step-up/google")[0]?.body).toEqual({ return: "/profile/security" });
  api.answer("POST /api/account/step-up", null);
  await visit({ password: false, google: linked, passkeys: 0 }, "?google=step-up");
  await says(text.stepUp.proved);
  expect(api.calls("POST /api/account/step-up").map(({ body }) => body)).toEqual([{ google: true }]);
  await visit({ password: false, google: linked, passkeys: 0 }, "?google=google_not_fresh");
  await says(refusals.google_not_fresh);
});
