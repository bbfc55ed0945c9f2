/** A mailed link signs in; over another's session it asks first. */
import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Visitor } from "#tests/support/visitor.ts";
import type { Stage } from "./support.ts";
import { deviceOf, setStage } from "./support.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
}, 180_000);
afterAll(() => stage?.close());

/** The link mailed to somebody who has just signed up, at the address the browser uses. */
async function linkTo(visitor: Visitor): Promise<string> {
  await visitor.signUp();
  const { pathname, search } = await visitor.mailedLink("/auth");
  return stage.url + pathname + search;
}

const signedIn = (page: Page) => page.evaluate<string | undefined>("JSON.parse(localStorage.getItem('session') ?? '{}').user?.email");

it("signs in whoever opens it with nobody signed in", async () => {
  const visitor = new Visitor(stage.product.url, stage.product.sandboxUrl);
  const context = await deviceOf(stage);
  const page = await context.newPage();
  await page.goto(await linkTo(visitor));
  await page.waitForURL("**/pricing");
  expect(await signedIn(page)).toBe(visitor.email);
  await context.close();
});

it("opened over another's session asks first, and replaces it only then", async () => {
  const here = await stage.person(false);
  const other = new Visitor(stage.product.url, stage.product.sandboxUrl);
  const link = await linkTo(other);
  const context = await deviceOf(stage, here);
  const page = await context.newPage();
  const calls: string[] = [];
  page.on("request", (request) => request.url().endsWith("/api/auth/confirm") && calls.push(request.url()));

  await page.goto(link);
  await page.getByRole("heading", { name: "You are already signed in" }).waitFor();
  await page.getByText(here.email).first().waitFor();
  await page.getByRole("button", { name: "Stay signed in" }).click();
  await page.waitForURL("**/pricing");
  expect([await signedIn(page), calls]).toEqual([here.email, []]);

  await page.goto(link);
  await page.getByRole("button", { name: "Use the link" }).click();
  await page.waitForURL("**/pricing");
  expect(await signedIn(page)).toBe(other.email);
  expect(calls).toHaveLength(1);
  await context.close();
});

it("that is spent says so, and a signed-in person need not open it at all", async () => {
  const here = await stage.person(false);
  const context = await deviceOf(stage, here);
  const page = await context.newPage();
  await page.goto(`${stage.url}/auth?confirm=${randomUUID()}`);
  await page.getByRole("button", { name: "Use the link" }).click();
  await page.getByRole("heading", { name: "The address could not be confirmed" }).waitFor();
  expect(await signedIn(page)).toBe(here.email);
  await context.close();
});

it("that is spent leads on to a new one, and its page moves on once another tab has signed in", async () => {
  const visitor = await stage.person(false);
  const context = await deviceOf(stage);
  const page = await context.newPage();
  await page.goto(`${stage.url}/auth?confirm=${randomUUID()}`);
  await page.getByLabel("E-mail", { exact: true }).fill(visitor.email);
  await page.getByRole("button", { name: "Send a new link" }).click();
  await page.getByRole("heading", { name: "Check your e-mail" }).waitFor();

  const other = await context.newPage();
  await other.goto(`${stage.url}/auth`);
  await other.getByLabel("E-mail", { exact: true }).fill(visitor.email);
  await other.getByLabel("Password", { exact: true }).fill(visitor.password);
  await other.getByRole("main").getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL("**/pricing");
  expect(await signedIn(page)).toBe(visitor.email);
  await context.close();
});
