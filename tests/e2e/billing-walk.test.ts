/** From the trial to the refund as a person meets it: at each state the pages, the ledger and Stripe name the same credits and the same money. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import Stripe from "stripe";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { formatDate, formatMoney } from "#client/lib/format.ts";
import { annualPriceCents, packs, plans, trialCredits, trialDays, trialReminderDays } from "#domain/plans.ts";
import { creditsToTake } from "#domain/refunds.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { launchBrowser } from "#tests/support/browser.ts";
import { consentTo } from "#tests/support/consent.ts";
import { full } from "#tests/support/full.ts";
import { photograph } from "#tests/support/photographs.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import type { Product, ProductFolder } from "#tests/support/supervised.ts";
import { createProductFolder } from "#tests/support/supervised.ts";
import { advanceClock, Visitor } from "#tests/support/visitor.ts";
import { placeOrder } from "./support.ts";

let database: TestDatabase;
let folder: ProductFolder;
let product: Product;
let stripe: Stripe;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let person: Visitor;
// A product of its own: its clock is moved.
beforeAll(async () => {
  database = await createTestDatabase(1);
  folder = await createProductFolder({ database });
  product = folder.start();
  await product.said("Sandbox", 120_000);
  const { hostname, port } = new URL(product.sandboxUrl);
  stripe = new Stripe("sk_test_walk", { host: hostname, port, protocol: "http" });
  browser = await launchBrowser();
}, 150_000);
afterEach(() => context?.close());
afterAll(async () => {
  await browser?.close();
  await folder?.remove();
});

const money = (cents: number) => formatMoney(cents, "en");
const region = (name: string) => page.getByRole("region", { name, exact: true });
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
const dialog = () => page.getByRole("dialog");
/** The value beside a name in a description list. */
const fact = (name: string) => page.locator("dl > div", { has: page.getByText(name, { exact: true }) }).locator("dd");
const go = (path: string) => page.goto(`${product.url}${path}`);
const says = (text: string | RegExp) => page.getByText(text).first().waitFor();
/** The end of the running period, as pages write a day. */
const periodEnd = async () => formatDate((await person.check()).subscription_end ?? "", "en");

async function customer(): Promise<string> {
  const [found] = (await stripe.customers.list({ email: person.email })).data;
  if (!found) throw new Error(`Stripe has no customer ${person.email}`);
  return found.id;
}

let device = "";
let steps = 0;
async function look(name: string): Promise<void> {
  steps += 1;
  await photograph(page, `billing-${device}-${String(steps).padStart(2, "0")}-${name}`);
}

/** What Stripe has billed, as the pages write it, newest first. */
async function billed(): Promise<string[]> {
  const invoices = await stripe.invoices.list({ customer: await customer() });
  return invoices.data.map(({ total }) => money(total));
}

/** The overview, the history, the invoices, the ledger and Stripe agree. `states` has what is said of each invoice, newest first. */
async function agree(state: string, credits: number, states: readonly string[]): Promise<void> {
  await go("/profile");
  await expect.poll(() => region("Wallet").locator("strong").first().textContent()).toBe(String(credits));
  await expect.poll(() => fact("Available credits").textContent()).toMatch(new RegExp(`^${credits} `));
  await expect.poll(() => region("History").locator("strong").first().textContent()).toBe(String(credits));
  expect(await person.wallet()).toMatchObject({ balance: credits, available: credits, held: 0 });
  expect(await findDisagreements(database.db)).toEqual([]);
  await look(`${state}-profile`);
  const rows = region("Invoices").getByRole("listitem");
  await go("/profile/billing");
  await expect.poll(() => rows.count()).toBe(states.length);
  const shown = await rows.allTextContents();
  for (const [place, amount] of (await billed()).entries()) {
    expect(shown[place]).toContain(amount);
    expect(shown[place]).toContain(states[place]);
  }
  await look(`${state}-invoices`);
}

async function subjects(): Promise<string[]> {
  const response = await fetch(`${product.sandboxUrl}/mail?to=${encodeURIComponent(person.email)}`);
  return ((await response.json()) as { subject: string }[]).map(({ subject }) => subject);
}
const isTold = (subject: string) => expect.poll(subjects).toContainEqual(expect.stringContaining(subject));

/** From the plan's card to the page where it is paid. */
async function order(plan: string): Promise<void> {
  await button(`Subscribe to ${plan}`).click();
  await placeOrder(page);
  await page.waitForURL(`${product.sandboxUrl}/**`);
}

async function payWith(card: "success" | "declined", label: string | RegExp): Promise<void> {
  await page.locator(`input[value=${card}]`).check();
  await button(label).click();
}

/** Opens the preview of a change, which names `sums`: what is paid today, then, and later. */
async function preview(label: string, sums: readonly number[]): Promise<void> {
  await button(label).click();
  await expect.poll(() => dialog().locator("dl dd").allTextContents()).toEqual(sums.map(money));
  await look("preview");
}

async function confirmChange(): Promise<void> {
  const day = await periodEnd();
  await button("Order with obligation to pay").click();
  await says(`Your plan changes on ${day}`);
}

const starter = plans.starter.monthlyCredits;
const pack = packs[1];

async function trialAndPlan(): Promise<void> {
  await person.json("POST", "/api/billing/trial");
  await go("/profile");
  await expect.poll(() => fact("Current plan").textContent()).toBe("Free trial");
  await advanceClock(product.sandboxUrl, `P${trialDays - trialReminderDays}D`);
  await isTold("Your free trial ends soon");
  await page.reload();
  await expect.poll(() => fact("Time left").textContent()).toMatch(/^1 day$/);
  await look("trial-ends");
  await region("Subscription").getByRole("link", { name: "Choose a plan" }).click();
  await button("Subscribe to Starter").waitFor();
  await look("plans");
  await order("Starter");
  await look("payment-page");
  await payWith("declined", /^Subscribe for/);
  await says("Payment failed.");
  await look("declined");
  await payWith("success", /^Subscribe for/);
  // A running trial does not count as the plan that is awaited.
  await page.getByRole("heading", { name: "are yours" }).waitFor();
  expect(await page.getByRole("heading", { name: "are yours" }).textContent()).toBe(`${starter} credits are yours`);
  await look("paid");
  await agree("subscribed", trialCredits + starter, ["Paid"]);
}

async function changeAndUndo(): Promise<void> {
  const { professional } = plans;
  const day = await periodEnd();
  await go("/pricing");
  await preview("Change to Professional", [0, professional.monthlyPriceCents, professional.monthlyPriceCents]);
  await confirmChange();
  await go("/profile");
  await says(`From then on: Professional, billed monthly, with ${professional.monthlyCredits} credits every month.`);
  await says(`Next: ${professional.monthlyCredits} credits on ${day}.`);
  await look("change-planned");
  await isTold("Your plan changes to Professional");
  await button("Undo change").click();
  await says("The change is undone.");
  await says(`Next: ${starter} credits on ${day}.`);
  expect(await button("Undo change").count()).toBe(0);
  await look("undone");
}

/** The change to the year comes with the next period, and its payment fails. */
async function annualThatFails(): Promise<void> {
  await go("/pricing");
  await page.getByRole("radio", { name: /^Annual/ }).check();
  const year = annualPriceCents(plans.starter);
  await preview("Change to annual billing", [0, year, year]);
  await confirmChange();
  await go("/profile");
  await button("Manage subscription").click();
  await page.waitForURL(`${product.sandboxUrl}/**`);
  await payWith("declined", "Use this card");
  await says("Renewals will be declined.");
  await look("portal");
  await page.getByRole("link", { name: "Back to Tessera" }).click();
  await expect.poll(() => fact("Status").textContent()).toBe("Active");
  await advanceClock(product.sandboxUrl, "P1MT2H");
  // The open page hears of it.
  await expect.poll(() => fact("Status").textContent()).toBe("Payment due");
  const { unpaid } = await person.check();
  await expect
    .poll(() => region("Unpaid plan").textContent())
    .toContain(`Your payment of ${money(year)} failed. Access until ${formatDate(unpaid?.until ?? "", "en")}.`);
  expect(await fact("Ends on").textContent()).toBe(formatDate(unpaid?.until ?? "", "en"));
  await says("New credits come once the unpaid invoice is paid.");
  await isTold("Your payment did not go through");
  await agree("unpaid", starter + pack.credits, ["Payment failed", "Paid", "Paid"]);
}

async function recovery(): Promise<void> {
  await region("Unpaid plan").getByRole("button", { name: "Pay now" }).click();
  await page.waitForURL(`${product.sandboxUrl}/**`);
  await look("invoice-page");
  await payWith("success", /^Pay /);
  await says("This invoice is paid.");
  await isTold("Your payment went through");
  await agree("recovered", starter + pack.credits, ["Paid", "Paid", "Paid"]);
  expect(await region("Unpaid plan").count()).toBe(0);
  await go("/profile");
  await expect.poll(() => fact("Price").textContent()).toBe(`${money(annualPriceCents(plans.starter))} a yearBilled once a year`);
}

async function refund(): Promise<void> {
  const charges = (await stripe.charges.list({ customer: await customer() })).data;
  const paid = charges.find(({ amount, status }) => amount === pack.priceCents && status === "succeeded");
  const amount = Math.floor(pack.priceCents / 2);
  await go("/profile/billing");
  await stripe.refunds.create({ charge: paid?.id ?? "", amount });
  // The open page hears of it.
  await says(`${money(amount)} refunded`);
  await isTold(`${money(amount)} is on its way back to you`);
  const [taken = 0] = creditsToTake([pack.credits], amount, pack.priceCents);
  const left = starter + pack.credits - taken;
  await agree("refunded", left, ["Paid", `${money(amount)} refunded`, "Paid"]);
  await go("/profile/usage");
  await says("Taken back after a refund");
  await says(`The steps add up to ${left}.`);
  await look("explained");
}

async function walk(name: "phone" | "desktop"): Promise<void> {
  [device, steps] = [name, 0];
  const viewport = name === "phone" ? { width: 390, height: 844 } : { width: 1440, height: 900 };
  person = await new Visitor(product.url, product.sandboxUrl).join();
  context = await browser.newContext({ locale: "en-US", viewport, serviceWorkers: "block" });
  await context.addInitScript(`localStorage.setItem("session", ${JSON.stringify(JSON.stringify(person.session))})`);
  page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  await trialAndPlan();
  const { url } = await person.json<{ url: string }>("POST", "/api/billing/packs/checkout", {
    pack: pack.key,
    consent: consentTo(pack.key),
  });
  await person.pay(url);
  await agree("pack", trialCredits + starter + pack.credits, ["Paid", "Paid"]);
  await changeAndUndo();
  await annualThatFails();
  await recovery();
  await refund();
  expect(faults).toEqual([]);
}

it.runIf(full)(
  "on a phone: trial, plan, pack, change with preview, undo, annual billing, failed renewal, recovery and refund",
  async () => {
    await walk("phone");
  },
  240_000,
);

it.runIf(full)(
  "the same on a desktop",
  async () => {
    await walk("desktop");
  },
  240_000,
);
