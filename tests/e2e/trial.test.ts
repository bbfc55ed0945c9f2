/** The free trial as a stranger meets it, from the banner to its end (specification §2, §9; decision 42). */
import { randomUUID } from "node:crypto";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { plans, trialCredits, trialDays, trialReminderDays } from "#domain/plans.ts";
import { sharedBrowser } from "#tests/support/browser.ts";
import { daily, full } from "#tests/support/full.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import type { Product, ProductFolder } from "#tests/support/supervised.ts";
import { createProductFolder } from "#tests/support/supervised.ts";
import { advanceClock, Visitor } from "#tests/support/visitor.ts";

let folder: ProductFolder;
let product: Product;
let browser: Browser;
let context: BrowserContext;
// A product of its own: its clock is moved.
beforeAll(async () => {
  folder = await createProductFolder({ database: await createTestDatabase(1) });
  product = folder.start();
  await product.said("Sandbox", 120_000);
  browser = await sharedBrowser();
}, 150_000);
afterEach(() => context?.close());
afterAll(async () => {
  await folder?.remove();
});

async function open(visitor?: Visitor): Promise<Page> {
  context = await browser.newContext({ serviceWorkers: "block", locale: "en-GB", viewport: { width: 390, height: 844 } });
  if (visitor) await context.addInitScript(`localStorage.setItem("session", ${JSON.stringify(JSON.stringify(visitor.session))})`);
  return context.newPage();
}

const join = () => new Visitor(product.url, product.sandboxUrl).join();
const banner = (page: Page) => page.getByRole("region", { name: "Free trial" });
const startButton = (page: Page) => page.getByRole("main").getByRole("button", { name: "Start Free Trial" });
const begun = (page: Page) => page.getByText("Your free trial has begun").waitFor();

async function ask(page: Page, outcome: RegExp): Promise<void> {
  await page.getByLabel("Your prompt").fill("What is a tessera?");
  await page.getByText("This answer costs 1 credit").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText(outcome).first().waitFor();
}

async function subjectsTo(email: string): Promise<string[]> {
  const response = await fetch(`${product.sandboxUrl}/mail?to=${encodeURIComponent(email)}`);
  return ((await response.json()) as { subject: string }[]).map(({ subject }) => subject);
}

it("leads a stranger from the banner over sign-up and mailed link to the trial, which one tap starts and which ends by itself", async () => {
  const page = await open();
  const visitor = new Visitor(product.url, product.sandboxUrl);
  await page.goto(product.url);
  await banner(page).getByRole("link", { name: "Start Free Trial" }).click();
  await page.getByRole("heading", { name: "Create an account" }).waitFor();
  await page.getByLabel("Email", { exact: true }).fill(visitor.email);
  await page.getByLabel("Password", { exact: true }).fill(visitor.password);
  await page.getByRole("button", { name: "Create account", exact: true }).click();
  await page.getByRole("heading", { name: "Check your email" }).waitFor();
  await page.goto((await visitor.mailedLink("/auth")).href);
  await startButton(page).waitFor();
  await visitor.signIn();
  // The link alone starts nothing.
  expect(await visitor.check()).toMatchObject({ subscribed: false, can_start_trial: true });
  await startButton(page).click();
  await begun(page);
  await page.waitForURL("**/ai-models");
  await ask(page, new RegExp(`1 credit charged, ${trialCredits - 1}`));
  const conversation = page.url();

  await page.getByRole("button", { name: "Change model, now GPT-6 Luna" }).click();
  const large = page.getByRole("dialog").getByRole("button", { name: /^GPT-6\.1 Sol OpenAI/ });
  expect(await large.textContent()).toContain("Not in the free trial");
  await large.click();
  await page.getByText("GPT-6.1 Sol is not in the free trial. Every plan has it.").waitFor();
  expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
  expect(await page.getByRole("link", { name: "View plans" }).getAttribute("href")).toBe("/pricing");
  await page.getByRole("button", { name: "Use GPT-6 Luna for 1 credit" }).click();
  await page.getByText("This answer costs 1 credit").waitFor();
  const refused = await visitor.call(
    "POST",
    "/api/generations",
    { model: "gpt-6.1-sol", prompt: "Hello", quotedCredits: 5 },
    { "idempotency-key": randomUUID() },
  );
  expect([refused.status, await refused.json()]).toMatchObject([402, { code: "model_not_in_trial" }]);

  await page.goto(`${product.url}/profile`);
  const panel = page.getByRole("region", { name: "Subscription" });
  await panel.getByText("Free trial", { exact: true }).waitFor();
  expect(await panel.textContent()).toContain(`${trialCredits - 1}`);
  expect(await panel.textContent()).toContain(`${trialDays - 1} days`);
  expect(await panel.getByRole("link", { name: "Choose a plan" }).getAttribute("href")).toBe("/pricing");
  await page.goto(product.url);
  await page.getByRole("region", { name: "Your subscription" }).getByText("Free trial").waitFor();
  expect(await banner(page).isVisible()).toBe(false);

  await advanceClock(product.sandboxUrl, `P${trialDays - trialReminderDays}D`);
  await expect.poll(() => subjectsTo(visitor.email)).toContain("Your free trial ends soon");
  await advanceClock(product.sandboxUrl, `P${trialReminderDays}D`);
  await expect.poll(() => subjectsTo(visitor.email)).toContain("Your free trial has ended");
  for (const path of ["/", "/profile", "/ai-models"]) {
    await page.goto(`${product.url}${path}`);
    await page.getByText("Your free trial has ended").first().waitFor();
    await page.getByRole("main").getByRole("link", { name: "Choose a plan" }).waitFor();
  }
  expect(await startButton(page).count()).toBe(0);
  await visitor.signIn();
  await visitor.subscribe();
  await page.goto(conversation);
  await page.getByText("What is a tessera?").filter({ visible: true }).first().waitFor();
}, 240_000);

const offers = [
  ["the banner", "/about", "banner"],
  ["the profile", "/profile", "main"],
  ["the chat's gate", "/ai-models", "main"],
  ["the pricing page", "/pricing", "main"],
] as const;

it.each(daily(offers))("starts with one tap at %s for somebody who is signed in", async (_name, path, place) => {
  const page = await open(await join());
  await page.goto(`${product.url}${path}`);
  await (place === "banner" ? banner(page).getByRole("button", { name: "Start Free Trial" }) : startButton(page)).click();
  await begun(page);
  if (path === "/profile") await page.getByRole("region", { name: "Subscription" }).getByText("Free trial", { exact: true }).waitFor();
  else await page.getByLabel("Your prompt").waitFor();
  expect(await page.getByRole("button", { name: "Start Free Trial" }).count()).toBe(0);
});

it.runIf(full)("keeps what is left of its credits when a plan is bought in the middle of it, for every model", async () => {
  const visitor = await join();
  await visitor.json("POST", "/api/billing/trial");
  await visitor.subscribe("starter_month", trialCredits + plans.starter.monthlyCredits);
  const page = await open(visitor);
  await page.goto(`${product.url}/ai-models?model=gpt-6.1-sol`);
  await page.getByLabel("Your prompt").fill("What is a tessera?");
  await page.getByText(`This answer costs 5 credits · ${trialCredits + plans.starter.monthlyCredits} available`).waitFor();
  await page.keyboard.press("Enter");
  await page
    .getByText(`5 credits charged, ${trialCredits + plans.starter.monthlyCredits - 5}`)
    .first()
    .waitFor();
});

it("says readably that the mailbox had its trial, and stops offering it", async () => {
  const visitor = await join();
  const page = await open(visitor);
  await page.goto(`${product.url}/pricing`);
  await startButton(page).waitFor();
  // Another account of the same mailbox starts it first.
  await page.route("**/api/billing/trial", (route) =>
    route.fulfill({
      status: 409,
      contentType: "application/problem+json",
      body: JSON.stringify({ type: "about:blank", title: "Conflict", status: 409, code: "trial_used", detail: "", error: "" }),
    }),
  );
  await startButton(page).click();
  await page.getByText("This mailbox has had its free trial. Choose a plan to go on.").waitFor();
});
