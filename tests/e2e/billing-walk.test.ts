/** From the banner to the withdrawal as a stranger goes, by clicks alone; only the clock is moved. */
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { formatDate } from "#client/lib/format.ts";
import { annualPriceCents, packs, plans, trialCredits, trialDays, trialReminderDays } from "#domain/plans.ts";
import { launchBrowser } from "#tests/support/browser.ts";
import { full } from "#tests/support/full.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import type { Product, ProductFolder } from "#tests/support/supervised.ts";
import { createProductFolder } from "#tests/support/supervised.ts";
import { advanceClock } from "#tests/support/visitor.ts";
import { money, Payer } from "./payer-support.ts";
import type { Device } from "./walk-support.ts";
import { Walk } from "./walk-support.ts";

let database: TestDatabase;
let folder: ProductFolder;
let product: Product;
let browser: Browser;
let walk: Walk | undefined;
// A product of its own: its clock is moved.
beforeAll(async () => {
  database = await createTestDatabase(1);
  folder = await createProductFolder({ database });
  product = folder.start();
  await product.said("Sandbox", 120_000);
  browser = await launchBrowser();
}, 150_000);
afterEach(async () => {
  await walk?.page.context().close();
  walk = undefined;
});
afterAll(async () => {
  await browser?.close();
  await folder?.remove();
});

const { starter, professional } = plans;
const [smallPack, pack] = packs;

/** The banner leads a visitor to sign-up, and whoever is signed in starts the trial by it. */
async function bannerToTrial(begun: Walk): Promise<Payer> {
  const { page, step } = begun;
  const banner = page.getByRole("region", { name: "Free trial", exact: true });
  await page.goto(product.url);
  const signUp = banner.getByRole("link", { name: "Start Free Trial" });
  await step("home", signUp);
  const visitor = await begun.signUpBy(signUp);
  await step("pricing", page.getByRole("main").getByRole("button", { name: "Start Free Trial" }));
  const person = new Payer(begun, await visitor.signIn(), database.db);
  // The link alone starts nothing.
  expect(await visitor.check()).toMatchObject({ subscribed: false, can_start_trial: true });
  await page.getByRole("banner").getByRole("link", { name: "Tessera" }).click();
  const start = banner.getByRole("button", { name: "Start Free Trial" });
  await step("banner", start);
  await start.click();
  await person.says("Your free trial has begun");
  await step("trial-begun", begun.prompt);
  await person.go("/profile");
  await person.button("Add your name").click();
  await person.dialog.getByLabel("Name", { exact: true }).fill("Ada Lovelace");
  await person.button("Save").click();
  await person.button("Change name").waitFor();
  await expect.poll(() => person.fact("Current plan").textContent()).toBe("Free trial");
  await expect.poll(() => person.fact("Available credits").textContent()).toMatch(new RegExp(`^${trialCredits} `));
  await step("trial-profile");
  return person;
}

async function reminderToPlan(person: Payer): Promise<void> {
  const { page, walk: begun } = person;
  await advanceClock(product.sandboxUrl, `P${trialDays - trialReminderDays}D`);
  await page.reload();
  await expect.poll(() => person.fact("Time left").textContent()).toMatch(/^1 day$/);
  await page
    .getByRole("region", { name: "Subscription", exact: true })
    .getByRole("link", { name: "Choose a plan" })
    .scrollIntoViewIfNeeded();
  await begun.step("trial-ends", page.getByRole("link", { name: "Choose a plan" }));
  await person.followMail("Your free trial ends soon", "/pricing");
  await begun.step("plans", person.button("Subscribe to Starter"));
  await person.order("Starter");
  await person.payWith("declined", /^Subscribe for/);
  await person.says("Payment failed.");
  await begun.step("declined", person.button(/^Subscribe for/));
  await person.payWith("success", /^Subscribe for/);
  // A running trial does not count as the plan that is awaited.
  await person.heading(`${starter.monthlyCredits} credits are yours`).waitFor();
  await begun.step("paid", page.getByRole("link", { name: "Start chatting" }));
  await person.agree("subscribed", { credits: trialCredits + starter.monthlyCredits, invoices: ["Paid"] });
}

async function changeAndUndo(person: Payer): Promise<void> {
  const { walk: begun } = person;
  const day = await person.periodEnd();
  await person.go("/pricing");
  await person.preview("Change to Professional", [0, professional.monthlyPriceCents, professional.monthlyPriceCents]);
  await person.confirmChange();
  await begun.step("change-made");
  await person.go("/profile");
  await person.says(`From then on: Professional, billed monthly, with ${professional.monthlyCredits} credits every month.`);
  await person.says(`Next: ${professional.monthlyCredits} credits on ${day}.`);
  await person.button("Undo change").scrollIntoViewIfNeeded();
  await begun.step("change-planned", person.button("Undo change"));
  await person.isTold("Your plan changes to Professional");
  await person.button("Undo change").click();
  await person.says("The change is undone.");
  await person.says(`Next: ${starter.monthlyCredits} credits on ${day}.`);
  expect(await person.button("Undo change").count()).toBe(0);
  await begun.step("undone");
}

/** The change to the year comes with the next period, and its payment fails. */
async function annualThatFails(person: Payer): Promise<void> {
  const { page, walk: begun } = person;
  const year = annualPriceCents(starter);
  await person.go("/pricing");
  await page.getByRole("radio", { name: /^Annual/ }).check();
  await person.preview("Change to annual billing", [0, year, year]);
  await person.confirmChange();
  await begun.step("annual-planned");
  await person.go("/profile");
  await person.button("Manage subscription").click();
  await person.toSandbox();
  await begun.step("portal");
  await person.payWith("declined", "Use this card");
  await person.says("Renewals will be declined.");
  await page.getByRole("link", { name: "Back to Tessera" }).click();
  await expect.poll(() => person.fact("Status").textContent()).toBe("Active");
  await advanceClock(product.sandboxUrl, "P1MT2H");
  // The open page hears of it.
  await expect.poll(() => person.fact("Status").textContent()).toBe("Payment due");
  const { unpaid } = await person.visitor.check();
  const until = formatDate(unpaid?.until ?? "", "en");
  await expect
    .poll(() => person.region("Unpaid plan").textContent())
    .toContain(`Your payment of ${money(year)} failed. Access until ${until}.`);
  expect(await person.fact("Ends on").textContent()).toBe(until);
  await person.says("New credits come once the unpaid invoice is paid.");
  await person.isTold("Your payment did not go through");
  await person.agree("unpaid", { credits: starter.monthlyCredits + pack.credits, invoices: ["Payment failed", "Paid", "Paid"] });
}

/** The mail's link and the page's button lead to the same invoice. */
async function recovery(person: Payer, by: "mail" | "page"): Promise<void> {
  const { walk: begun } = person;
  if (by === "mail") await person.followMail("Your payment did not go through", "/api/billing/pay");
  else await person.region("Unpaid plan").getByRole("button", { name: "Pay now" }).click();
  await person.toSandbox();
  await begun.step("invoice", person.button(/^Pay /));
  await person.payWith("success", /^Pay /);
  await person.says("This invoice is paid.");
  await begun.step("invoice-paid");
  await person.isTold("Your payment went through");
  await person.agree("recovered", { credits: starter.monthlyCredits + pack.credits, invoices: ["Paid", "Paid", "Paid"] });
  expect(await person.region("Unpaid plan").count()).toBe(0);
  await person.go("/profile");
  await expect.poll(() => person.fact("Price").textContent()).toBe(`${money(annualPriceCents(starter))} a yearBilled once a year`);
}

/** More than a month after the first payment: the guarantee and the first contracts are over, and a pack that was just bought goes back. */
async function packGoesBack(person: Payer): Promise<void> {
  const { walk: begun, page } = person;
  await person.buy(smallPack);
  await person.withdraw(
    `Credit pack, ${smallPack.credits} credits`,
    smallPack.priceCents,
    /The unspent credits of this pack are taken back/,
  );
  expect(await person.region("Withdraw from a contract").getByRole("listitem").count()).toBe(1);
  const guarantee = person.region("Money-back guarantee");
  await guarantee.getByText(/^That was possible until /).waitFor();
  expect(await guarantee.getByRole("button").count()).toBe(0);
  await guarantee.scrollIntoViewIfNeeded();
  await begun.step("guarantee-over");
  const left = starter.monthlyCredits + pack.credits;
  await person.agree("given-back", { credits: left, invoices: ["Refunded", "Paid", "Paid", "Paid"] });
  await person.go("/profile/usage");
  await person.says("Taken back after a withdrawal from the contract");
  const sum = page.getByText(`The steps add up to ${left}.`);
  await sum.waitFor();
  await sum.scrollIntoViewIfNeeded();
  await begun.step("explained");
}

async function strangersWalk(device: Device, recoversBy: "mail" | "page"): Promise<void> {
  walk = await Walk.begin({ browser, product, device, language: "en", name: "billing" });
  const person = await bannerToTrial(walk);
  await reminderToPlan(person);
  await person.buy(pack);
  await person.agree("pack", { credits: trialCredits + starter.monthlyCredits + pack.credits, invoices: ["Paid", "Paid"] });
  await changeAndUndo(person);
  await person.cancelAndResume("Starter", pack.credits);
  await annualThatFails(person);
  await recovery(person, recoversBy);
  await packGoesBack(person);
  await walk.end();
}

it.runIf(full)(
  "a stranger on a phone, by clicks: sign-up, trial, reminder, plan, pack, change with preview, undo, cancellation, annual billing, failed renewal, recovery by mail and withdrawal",
  async () => {
    await strangersWalk("phone", "mail");
  },
  480_000,
);

it.runIf(full)(
  "the same on a desktop, with recovery by the page",
  async () => {
    await strangersWalk("desktop", "page");
  },
  480_000,
);
