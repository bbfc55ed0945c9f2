/** A mailed link confirms an address or lets its owner choose a new password; if another person is signed in, it asks first. */
import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { full } from "#tests/support/full.ts";
import { Visitor } from "#tests/support/visitor.ts";
import type { Stage } from "./support.ts";
import { pageOf, setStage } from "./support.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
}, 180_000);
afterEach(() => stage?.devices.takeBack());
afterAll(() => stage?.close());

/** Signs up and returns the mailed link, with the host that the browser uses. */
async function linkTo(visitor: Visitor): Promise<string> {
  await visitor.signUp();
  const { pathname, search } = await visitor.mailedLink("/auth");
  return stage.url + pathname + search;
}

const signedIn = (page: Page) => page.evaluate<string | undefined>("JSON.parse(localStorage.getItem('session') ?? '{}').user?.email");

/** Signs up on the page and waits for the next step. */
async function signUpOn(page: Page, visitor: Visitor): Promise<void> {
  await page.goto(`${stage.url}/auth?mode=sign-up`);
  await page.getByLabel("Email", { exact: true }).fill(visitor.email);
  await page.getByLabel("Password", { exact: true }).fill(visitor.password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("heading", { name: "Check your email" }).waitFor();
}

const focused = (page: Page) => page.evaluate<string>("document.activeElement?.textContent ?? ''");

it("signs in with one click in the browser that signed up, after the focus moved to the next step; opened again it just continues", async () => {
  const visitor = new Visitor(stage.product.url, stage.product.sandboxUrl);
  const page = await pageOf(stage);
  await signUpOn(page, visitor);
  expect(await focused(page)).toBe("Check your email");
  const { pathname, search } = await visitor.mailedLink("/auth");
  await page.goto(stage.url + pathname + search);
  await page.waitForURL("**/pricing");
  expect(await signedIn(page)).toBe(visitor.email);

  await page.goto(stage.url + pathname + search);
  await page.waitForURL("**/pricing");
  expect(await signedIn(page)).toBe(visitor.email);

  const elsewhere = await pageOf(stage);
  await elsewhere.goto(stage.url + pathname + search);
  await elsewhere.getByText(`${visitor.email} is confirmed already.`).waitFor();
  await elsewhere.getByRole("link", { name: "Go to sign in" }).click();
  expect(await elsewhere.getByLabel("Email", { exact: true }).inputValue()).toBe(visitor.email);
});

it("asks for the password in any other browser, and signs in only with the right one", async () => {
  const visitor = new Visitor(stage.product.url, stage.product.sandboxUrl);
  const page = await pageOf(stage);
  await page.goto(await linkTo(visitor));
  await page.getByRole("heading", { name: "Confirm your address" }).waitFor();
  await page.getByText(visitor.email).waitFor();
  const submit = page.getByRole("button", { name: "Confirm address" });
  await page.getByLabel("Password", { exact: true }).fill("not the password 1");
  await submit.click();
  await page.getByText("This is not the password chosen at sign-up.").waitFor();
  expect(await signedIn(page)).toBeUndefined();
  await page.getByLabel("Password", { exact: true }).fill(visitor.password);
  await submit.click();
  await page.waitForURL("**/pricing");
  expect(await signedIn(page)).toBe(visitor.email);
});

it("lets the owner of an address end a stranger's sign-up and create their own account", async () => {
  const stranger = new Visitor(stage.product.url, stage.product.sandboxUrl);
  const link = await linkTo(stranger);
  const page = await pageOf(stage);
  await page.goto(link);
  await page.getByRole("button", { name: "This wasn't me" }).click();
  await page.getByRole("heading", { name: "The sign-up is deleted" }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "Create an account" }).click();
  await page.getByRole("heading", { name: "Create an account" }).waitFor();
  expect(await page.getByLabel("Email", { exact: true }).inputValue()).toBe(stranger.email);
  await page.goto(link);
  await page.getByRole("heading", { name: "The address could not be confirmed" }).waitFor();
  expect(await signedIn(page)).toBeUndefined();
});

it.runIf(full)("opened while another person is signed in asks first, and replaces the session only then", async () => {
  const here = await stage.person(false);
  const other = new Visitor(stage.product.url, stage.product.sandboxUrl);
  const link = await linkTo(other);
  const page = await pageOf(stage, here);
  const calls: string[] = [];
  page.on("request", (request) => request.url().endsWith("/api/auth/confirm") && calls.push(request.url()));

  await page.goto(link);
  await page.getByRole("heading", { name: "You are already signed in" }).waitFor();
  await page.getByText(here.email).first().waitFor();
  await page.getByRole("button", { name: "Stay signed in" }).click();
  await page.waitForURL("**/pricing");
  expect([await signedIn(page), calls]).toEqual([here.email, []]);

  await page.goto(link);
  await page.getByText(`This link signs in ${other.email} instead.`).waitFor();
  await page.getByRole("button", { name: "Use the link" }).click();
  await page.getByLabel("Password", { exact: true }).fill(other.password);
  expect(await signedIn(page)).toBe(here.email);
  await page.getByRole("button", { name: "Confirm address" }).click();
  await page.waitForURL("**/pricing");
  expect(await signedIn(page)).toBe(other.email);
  expect(calls).toHaveLength(1);
  const ended = stage.db
    .selectFrom("auth_sessions")
    .select("revoked_at")
    .where("user_id", "=", here.session?.user.id ?? "");
  await expect.poll(async () => (await ended.executeTakeFirstOrThrow()).revoked_at).not.toBeNull();
});

it.runIf(full)("that is used up says so, and a signed-in person can continue", async () => {
  const here = await stage.person(false);
  const page = await pageOf(stage, here);
  await page.goto(`${stage.url}/auth?confirm=${randomUUID()}`);
  await page.getByRole("heading", { name: "The address could not be confirmed" }).waitFor();
  await page.getByRole("button", { name: "Go on" }).click();
  await page.waitForURL("**/pricing");
  expect(await signedIn(page)).toBe(here.email);
});

it.runIf(full)("that is used up links to sign-in, and its page continues when another tab has signed in", async () => {
  const visitor = await stage.person(false);
  const page = await pageOf(stage);
  await page.goto(`${stage.url}/auth?confirm=${randomUUID()}`);
  await page.getByRole("link", { name: "Go to sign in" }).waitFor();

  const other = await page.context().newPage();
  await other.goto(`${stage.url}/auth`);
  await other.getByLabel("Email", { exact: true }).fill(visitor.email);
  await other.getByLabel("Password", { exact: true }).fill(visitor.password);
  await other.getByRole("main").getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL("**/pricing");
  expect(await signedIn(page)).toBe(visitor.email);
});

it("lets somebody who forgot their password choose another: signed in where they asked, signed out everywhere else", async () => {
  const visitor = await stage.person(false);
  const other = await pageOf(stage, visitor);
  await other.goto(`${stage.url}/profile`);
  await other.getByText(visitor.email).first().waitFor();

  const page = await pageOf(stage);
  await page.goto(`${stage.url}/auth`);
  // Before that, a link opens another document and forgets what was typed.
  await page.locator("html[data-live]").waitFor({ state: "attached" });
  await page.getByLabel("Email", { exact: true }).fill(visitor.email);
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  expect(await page.getByLabel("Email", { exact: true }).inputValue()).toBe(visitor.email);
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.getByRole("heading", { name: "Check your email" }).waitFor();
  const { pathname, search } = await visitor.mailedLink("/auth", "recover");

  await page.goto(stage.url + pathname + search);
  await page.getByLabel("New password", { exact: true }).fill("Password123");
  await page.getByRole("button", { name: "Save the password" }).click();
  await page.getByText("This password is too common. Choose another one").waitFor();
  await page.getByLabel("New password", { exact: true }).fill("another horse 9 battery");
  await page.getByRole("button", { name: "Save the password" }).click();
  await page.waitForURL(`${stage.url}/`);
  expect(await signedIn(page)).toBe(visitor.email);

  await other.reload();
  await expect.poll(() => signedIn(other)).toBeUndefined();
  // The link is used up, and says so to whoever opens it again.
  await other.goto(stage.url + pathname + search);
  await other.getByRole("heading", { name: "This link no longer works" }).waitFor();
});
