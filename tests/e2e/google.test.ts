/** Sign-in with Google in a browser, with the Google that the sandbox plays. */
import { Secret, TOTP } from "otpauth";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import account from "#client/i18n/locales/en/account.json" with { type: "json" };
import auth from "#client/i18n/locales/en/auth.json" with { type: "json" };
import refusals from "#client/i18n/locales/en/refusals.json" with { type: "json" };
import steps from "#client/i18n/locales/en/steps.json" with { type: "json" };
import type { TotpSetUp } from "#contract/auth/factors.ts";
import type { Session } from "#contract/auth/sign-in.ts";
import { full } from "#tests/support/full.ts";
import { hasTurn } from "#tests/support/turns.ts";
import { Visitor } from "#tests/support/visitor.ts";
import type { Stage } from "./support.ts";
import { pageOf, setStage } from "./support.ts";

const isToday = hasTurn("waysIn", "google");

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
}, 180_000);
afterEach(() => stage?.devices.takeBack());
afterAll(() => stage?.close());

const button = (page: Page) => page.getByRole("button", { name: auth.google.go, exact: true });
const signedIn = (page: Page) => page.evaluate<string | undefined>("JSON.parse(localStorage.getItem('session') ?? '{}').user?.email");
const panel = (page: Page) => page.getByRole("region", { name: account.waysIn.title, exact: true });

/** A page with what it logged as an error: under the strict policy nothing of Google may be refused. */
async function openPage(): Promise<{ page: Page; errors: string[] }> {
  const page = await pageOf(stage);
  const errors: string[] = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  return { page, errors };
}

/** Goes to Google, on whose page one picks a person. */
async function choose(page: Page, email: string): Promise<void> {
  await button(page).click();
  await page.getByRole("button", { name: email }).click();
}

async function signIn(page: Page, email: string, path = "/auth?return=%2Fcontact"): Promise<void> {
  await page.goto(stage.url + path);
  await choose(page, email);
}

it.runIf(isToday)("makes an account, signs out, opens the same account, and comes back to the page that was asked for", async () => {
  const { page, errors } = await openPage();
  await page.goto(`${stage.url}/auth?mode=sign-up&return=%2Fcontact`);
  await choose(page, "ada@example.com");
  await page.waitForURL("**/contact");
  expect(await signedIn(page)).toBe("ada@example.com");
  const id = () => page.evaluate<string>("JSON.parse(localStorage.getItem('session')).user.id");
  const first = await id();
  await page.goto(`${stage.url}/profile`);
  await page.getByRole("button", { name: account.signOut, exact: true }).click();
  await expect.poll(() => signedIn(page)).toBeUndefined();
  await signIn(page, "ada@example.com");
  await page.waitForURL("**/contact");
  expect(await id()).toBe(first);
  expect(errors).toEqual([]);
});

it.runIf(full)("says why Google did not sign in, on the form, and takes the reason out of the address", async () => {
  const { page } = await openPage();
  await signIn(page, "unverified@example.com");
  await page.getByText(refusals.google_unverified).waitFor();
  expect(new URL(page.url()).search).toBe("?return=%2Fcontact");
  // Somebody else's state, and the address of an answer that was used.
  const answers: string[] = [];
  page.on("request", (request) => request.url().includes("/api/auth/google/callback") && answers.push(request.url()));
  await page.goto(`${stage.url}/auth`);
  await choose(page, "unverified@example.com");
  await page.getByText(refusals.google_unverified).waitFor();
  await page.goto(answers[0] ?? "");
  await page.getByText(refusals.google_expired).waitFor();
  await page.goto(`${stage.url}/api/auth/google/callback?error=access_denied&state=of-somebody-else`);
  await page.getByText(refusals.google_expired).waitFor();
  expect(await signedIn(page)).toBeUndefined();
  await button(page).waitFor();
});

it.runIf(isToday)("opens no account that a stranger began with a password, and the stranger's password opens nothing", async () => {
  const stranger = new Visitor(stage.product.url, stage.product.sandboxUrl);
  const body = { email: "alan@example.com", password: stranger.password };
  await stranger.json("POST", "/api/auth/sign-up", body);
  const { page } = await openPage();
  await signIn(page, "alan@example.com");
  await page.waitForURL("**/contact");
  expect((await stranger.call("POST", "/api/auth/sign-in", body)).status).not.toBe(200);
  await page.goto(`${stage.url}/profile/security`);
  await panel(page).getByText(account.waysIn.passwordMissing).waitFor();
  await panel(page).getByText(account.waysIn.last).waitFor();
  expect(await panel(page).getByRole("button", { name: account.waysIn.unlink }).count()).toBe(0);
});

/** An account of one of Google's people, made with a password. */
async function joinWithPassword(email: string): Promise<Visitor> {
  const visitor = new Visitor(stage.product.url, stage.product.sandboxUrl);
  Object.assign(visitor, { email });
  return visitor.join();
}

it.runIf(isToday)("links an account only after its owner signed in in their own way, and unlinks it again", async () => {
  const visitor = await joinWithPassword("grace@example.com");
  const { page } = await openPage();
  await signIn(page, visitor.email);
  await page.getByText("already has an account here").waitFor();
  expect(await signedIn(page)).toBeUndefined();
  expect(await page.getByLabel("Email", { exact: true }).inputValue()).toBe(visitor.email);
  await page.getByLabel("Password", { exact: true }).fill(visitor.password);
  await page.getByRole("button", { name: auth.signIn.submit, exact: true }).click();
  await page.getByRole("heading", { name: steps.google.link.title }).waitFor();
  await page.getByRole("button", { name: steps.google.link.yes }).click();
  await page.waitForURL("**/contact");

  await page.goto(`${stage.url}/profile/security`);
  await panel(page).getByText(visitor.email).waitFor();
  await panel(page).getByRole("button", { name: account.waysIn.unlink }).click();
  await panel(page).getByText(account.waysIn.off).waitFor();
  await panel(page).getByRole("button", { name: account.waysIn.link }).click();
  await page.getByRole("button", { name: visitor.email }).click();
  await page.waitForURL("**/profile/security");
  await panel(page).getByText(visitor.email).waitFor();
});

it.runIf(full)("asks for the second factor after Google, and lets somebody without a password show that it is they by Google", async () => {
  const { page } = await openPage();
  await signIn(page, "edsger@example.com");
  await page.waitForURL("**/contact");
  const session = JSON.parse(await page.evaluate<string>("localStorage.getItem('session')")) as Session;
  const act = async <T>(path: string, body: object): Promise<T> => {
    const headers = { authorization: `Bearer ${session.access_token}`, "content-type": "application/json" };
    return (await fetch(new URL(path, stage.url), { method: "POST", headers, body: JSON.stringify(body) })).json() as Promise<T>;
  };
  const { secret, setUp } = await act<TotpSetUp>("/api/account/factors/totp", {});
  const app = new TOTP({ secret: Secret.fromBase32(secret) });
  await act("/api/account/factors/totp/confirm", { setUp, code: app.generate() });
  await page.goto(`${stage.url}/profile`);
  await page.getByRole("button", { name: account.signOut, exact: true }).click();
  await expect.poll(() => signedIn(page)).toBeUndefined();

  await signIn(page, "edsger@example.com");
  await page.getByRole("heading", { name: steps.factor.title }).waitFor();
  expect(await signedIn(page)).toBeUndefined();
  await page.getByLabel(steps.factor.code, { exact: true }).fill(app.generate({ timestamp: Date.now() + 30_000 }));
  await page.getByRole("button", { name: auth.signIn.submit, exact: true }).click();
  await page.waitForURL("**/contact");

  await page.goto(`${stage.url}/profile/security?google=step-up`);
  await page.getByText(refusals.google_expired).waitFor();
});

it.runIf(full)(
  "an old sign-in is confirmed by Google: the person comes back to the page they were on, and can do what they were about to do",
  async () => {
    const { page, errors } = await openPage();
    await signIn(page, "ada@example.com");
    await page.waitForURL("**/contact");
    const { user } = JSON.parse(await page.evaluate<string>("localStorage.getItem('session')")) as Session;
    await stage.db
      .updateTable("auth_sessions")
      .set({ proved_at: new Date(0) })
      .where("user_id", "=", user.id)
      .execute();

    await page.goto(`${stage.url}/profile/security`);
    const setUp = page.getByRole("button", { name: account.twoStep.setUp, exact: true });
    await setUp.click();
    const dialog = page.getByRole("dialog", { name: account.stepUp.title });
    await dialog.getByRole("button", { name: auth.google.go }).click();
    await page.getByRole("button", { name: user.email }).click();
    await page.waitForURL("**/profile/security");
    await page.getByText(account.stepUp.proved, { exact: true }).waitFor();
    await setUp.click();
    await page.getByRole("heading", { name: account.twoStep.app.title }).waitFor();
    expect(await dialog.count()).toBe(0);
    // The refusal that asked for it is the only one.
    expect(errors.filter((message) => !message.includes("403"))).toEqual([]);
  },
);
