/** Two-step sign-in as a person uses it: set up with the shown key, a code once, recovery codes, off; and the way back when all is lost. */
import { Secret, TOTP } from "otpauth";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TotpSetUp } from "#contract/auth/factors.ts";
import { hourMs } from "#domain/clock.ts";
import { disownMs, factorResetWaitMs } from "#domain/periods.ts";
import { full } from "#tests/support/full.ts";
import { hasTurn } from "#tests/support/turns.ts";
import type { Visitor } from "#tests/support/visitor.ts";
import type { Stage } from "./support.ts";
import { deviceOf, setStage } from "./support.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
}, 180_000);
afterAll(() => stage?.close());

const timeoutMs = 120_000;

/** The codes of an app, none twice: that of this moment and then the next one. */
function codesOf(secret: string): () => string {
  const app = new TOTP({ secret: Secret.fromBase32(secret) });
  const used = new Set<string>();
  return () => {
    const now = Date.now();
    const code = [now, now + 30_000].map((timestamp) => app.generate({ timestamp })).find((each) => !used.has(each)) ?? "";
    used.add(code);
    return code;
  };
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const panelOf = (page: Page) => page.getByRole("region", { name: /^Two-step sign-in/ });
const session = (page: Page) => page.evaluate<string | null>("localStorage.getItem('session')");
const isSignedIn = (page: Page) => expect.poll(() => session(page)).not.toBeNull();
const isSignedOut = (page: Page) => expect.poll(() => session(page)).toBeNull();

async function showPassword(page: Page, visitor: Visitor): Promise<void> {
  await page.getByLabel("Email", { exact: true }).fill(visitor.email);
  await page.getByLabel("Password", { exact: true }).fill(visitor.password);
  await button(page, "Sign in").click();
}

/** Signs out, and shows the password again; the page then asks for a code. */
async function comeBack(page: Page, visitor: Visitor): Promise<void> {
  await page.goto(`${stage.url}/profile`);
  await page.getByRole("main").getByRole("button", { name: "Sign out" }).click();
  await isSignedOut(page);
  await page.goto(`${stage.url}/auth`);
  await showPassword(page, visitor);
  await page.getByRole("heading", { name: "Enter your code" }).waitFor();
}

async function showCode(page: Page, label: string, code: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).fill(code);
  await button(page, "Sign in").click();
}

/** Sets two-step sign-in up with the key that the page shows. Returns the app's codes and the recovery codes. */
async function setUp(page: Page): Promise<{ nextCode: () => string; recoveryCodes: string[] }> {
  await page.goto(`${stage.url}/profile/security`);
  const panel = panelOf(page);
  await panel.getByRole("button", { name: "Set it up" }).click();
  const nextCode = codesOf(((await panel.locator("code").first().textContent()) ?? "").replaceAll(" ", ""));
  await panel.getByLabel("Code", { exact: true }).fill(nextCode());
  await panel.getByRole("button", { name: "Turn on" }).click();
  await panel.getByRole("heading", { name: "Keep these recovery codes" }).waitFor();
  const recoveryCodes = await panel.getByRole("listitem").allTextContents();
  await panel.getByRole("button", { name: "I have kept them" }).click();
  await panel.getByText("10 recovery codes left").waitFor();
  return { nextCode, recoveryCodes };
}

it.runIf(hasTurn("waysIn", "two-step"))(
  "is set up, asks for a code that works once, takes recovery codes instead, and is switched off after one of them",
  async () => {
    const visitor = await stage.person(false);
    const context = await deviceOf(stage);
    const page = await context.newPage();
    await page.goto(`${stage.url}/auth`);
    await showPassword(page, visitor);
    await isSignedIn(page);
    const { nextCode, recoveryCodes } = await setUp(page);
    expect(recoveryCodes).toHaveLength(10);
    // The mail about it leads to a page that takes it away again.
    const { pathname, search } = await visitor.mailedLink("/auth", "disown");
    const elsewhere = await deviceOf(stage);
    const link = await elsewhere.newPage();
    await link.goto(stage.url + pathname + search);
    await link.getByText("Authenticator app, turned on:").waitFor();
    await elsewhere.close();

    await comeBack(page, visitor);
    const code = nextCode();
    await showCode(page, "Code", code);
    await isSignedIn(page);

    await comeBack(page, visitor);
    await showCode(page, "Code", code);
    await page.getByText("This code is wrong or was used before.").waitFor();
    await button(page, "Use a recovery code").click();
    await showCode(page, "Recovery code", recoveryCodes[0] ?? "");
    await isSignedIn(page);

    // Pretend that the factor was shown an hour ago.
    await stage.db
      .updateTable("auth_sessions")
      .set({ proved_at: new Date(Date.now() - hourMs) })
      .where("user_id", "=", visitor.session?.user.id ?? "")
      .execute();
    await page.goto(`${stage.url}/profile/security`);
    await panelOf(page).getByText("9 recovery codes left").waitFor();
    await panelOf(page).getByRole("button", { name: "Turn off" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click();
    const stepUp = page.getByRole("dialog", { name: "Confirm that it is you" });
    await stepUp.getByRole("button", { name: "Use a code" }).click();
    await stepUp.getByLabel("Code", { exact: true }).fill(recoveryCodes[1] ?? "");
    await stepUp.getByRole("button", { name: "Confirm" }).click();
    await panelOf(page).getByRole("button", { name: "Set it up" }).waitFor();
    await context.close();
  },
  timeoutMs,
);

/** Turns two-step sign-in on through the API; nobody keeps the codes. */
async function withLostFactor(): Promise<Visitor> {
  const visitor = await stage.person(false);
  const { secret, setUp: sealed } = await visitor.json<TotpSetUp>("POST", "/api/account/factors/totp", {});
  await visitor.json("POST", "/api/account/factors/totp/confirm", { setUp: sealed, code: codesOf(secret)() });
  // While it is newer, a session does not end a request to remove it.
  const older = new Date(Date.now() - disownMs - hourMs);
  const ofVisitor = stage.db.updateTable("credentials").where("user_id", "=", visitor.session?.user.id ?? "");
  await ofVisitor.set({ created_at: older }).execute();
  return visitor;
}

async function askForTheLink(context: BrowserContext, visitor: Visitor): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${stage.url}/auth`);
  await showPassword(page, visitor);
  await button(page, "I have lost the app and the codes").click();
  await button(page, "Ask for the link").click();
  await page.getByRole("heading", { name: "Now it takes time" }).waitFor();
  return page;
}

it.runIf(full)(
  "is removed by a link after three days, if no signed-in page cancels that; every one of them says so at once",
  async () => {
    const visitor = await withLostFactor();
    const home = await (await deviceOf(stage, visitor)).newPage();
    await home.goto(`${stage.url}/about`);
    const elsewhere = await deviceOf(stage);
    await askForTheLink(elsewhere, visitor);
    const notice = home.getByText("Someone who knows your password asked to turn off your two-step sign-in.");
    await notice.waitFor();
    await button(home, "Cancel the request").click();
    await home.getByText("The request is cancelled").waitFor();
    expect(await notice.count()).toBe(0);

    const page = await askForTheLink(elsewhere, visitor);
    await notice.waitFor();
    // Pretend that the request was made that much earlier: moving the clock would move it for the other files too.
    const earlier = new Date(Date.now() - factorResetWaitMs - hourMs);
    await stage.db
      .updateTable("factor_resets")
      .set({ asked_at: earlier, due_at: new Date(Date.now() - hourMs) })
      .where("user_id", "=", visitor.session?.user.id ?? "")
      .where("ended_at", "is", null)
      .execute();
    const { pathname, search } = await visitor.mailedLink("/auth", "reset-factors");
    await page.goto(stage.url + pathname + search);
    await showPassword(page, visitor);
    await button(page, "Turn it off and sign in").click();
    await isSignedIn(page);
    // The session from before has ended.
    await isSignedOut(home);
    await page.goto(`${stage.url}/profile/security`);
    await panelOf(page).getByRole("button", { name: "Set it up" }).waitFor();
    await page.getByText("Two-step sign-in turned off with a link sent by email").waitFor();
    await elsewhere.close();
    await home.context().close();
  },
  timeoutMs,
);
