/** A person who pays, as they go by clicks: at each state the pages, the ledger and Stripe name the same credits and the same money. */
import type { Locator, Page } from "playwright-core";
import Stripe from "stripe";
import { expect } from "vitest";
import { formatDate, formatMoney, formatNumber } from "#client/lib/format.ts";
import type { Pack } from "#domain/plans.ts";
import type { Db } from "#server/db/database.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { Visitor } from "#tests/support/visitor.ts";
import type { Walk } from "./walk-support.ts";

export const money = (cents: number) => formatMoney(cents, "en");
const dayOf = (timestamp: string | null) => formatDate(timestamp ?? "", "en");

/** What a person has. `owed`: credits that were taken back after they had been spent. */
export interface Holding {
  credits: number;
  owed?: number;
  hasPlan?: boolean;
  /** What is said of each invoice, newest first. */
  invoices: readonly string[];
}

export class Payer {
  readonly walk: Walk;
  readonly page: Page;
  readonly visitor: Visitor;
  readonly #db: Db;
  readonly #stripe: Stripe;

  /** `visitor` is signed in on another device too, where a test asks what the server says. */
  constructor(walk: Walk, visitor: Visitor, db: Db) {
    this.walk = walk;
    this.page = walk.page;
    this.visitor = visitor;
    this.#db = db;
    const { hostname, port } = new URL(walk.product.sandboxUrl);
    this.#stripe = new Stripe("sk_test_walk", { host: hostname, port, protocol: "http" });
  }

  readonly region = (name: string): Locator => this.page.getByRole("region", { name, exact: true });
  readonly button = (name: string | RegExp): Locator => this.page.getByRole("button", { name, exact: true });
  readonly heading = (name: string): Locator => this.page.getByRole("heading", { name, exact: true });
  readonly go = (path: string) => this.page.goto(`${this.walk.product.url}${path}`);
  readonly says = (text: string | RegExp): Promise<void> => this.page.getByText(text).filter({ visible: true }).first().waitFor();

  get dialog(): Locator {
    return this.page.getByRole("dialog");
  }

  /** The value beside a name in a description list. */
  fact(name: string): Locator {
    return this.page.locator("dl > div", { has: this.page.getByText(name, { exact: true }) }).locator("dd");
  }

  async toSandbox(): Promise<void> {
    await this.page.waitForURL(`${this.walk.product.sandboxUrl}/**`);
  }

  /** The end of the running period, as pages write a day. */
  async periodEnd(): Promise<string> {
    return dayOf((await this.visitor.check()).subscription_end);
  }

  async #subjects(): Promise<string[]> {
    const response = await fetch(`${this.walk.product.sandboxUrl}/mail?to=${encodeURIComponent(this.visitor.email)}`);
    return ((await response.json()) as { subject: string }[]).map(({ subject }) => subject);
  }

  isTold(subject: string): Promise<void> {
    return expect.poll(() => this.#subjects()).toContainEqual(expect.stringContaining(subject));
  }

  /** In the sandbox's mailbox: reads the newest mail with that subject, and follows its link to `path`. */
  async followMail(subject: string, path: string): Promise<void> {
    await this.isTold(subject);
    await this.page.goto(`${this.walk.product.sandboxUrl}/`);
    const mail = this.page.locator("#mail li").filter({ hasText: this.visitor.email }).filter({ hasText: subject }).first();
    await mail.locator("summary").click();
    await mail.scrollIntoViewIfNeeded();
    const link = mail.getByRole("link", { name: path, exact: true });
    await this.walk.step("mail", link);
    await link.click();
  }

  /** What Stripe has billed in cents, newest first. */
  async billed(): Promise<number[]> {
    const [customer] = (await this.#stripe.customers.list({ email: this.visitor.email })).data;
    if (!customer) throw new Error(`Stripe has no customer ${this.visitor.email}`);
    return (await this.#stripe.invoices.list({ customer: customer.id })).data.map(({ total }) => total);
  }

  /** The overview, the history, the invoices, the ledger and Stripe agree. */
  async agree(state: string, { credits, owed = 0, hasPlan = true, invoices }: Holding): Promise<void> {
    const [available, balance] = [formatNumber(credits, "en"), formatNumber(credits - owed, "en")];
    await this.go("/profile");
    // An empty wallet that owes nothing shows no number.
    if (!hasPlan && credits === owed) await this.region("Wallet").getByText("No credits yet").waitFor();
    else await expect.poll(() => this.region("Wallet").locator("strong").first().textContent()).toBe(available);
    if (hasPlan) await expect.poll(() => this.fact("Available credits").textContent()).toMatch(new RegExp(`^${available} `));
    await expect.poll(() => this.region("History").locator("strong").first().textContent()).toBe(balance);
    expect(await this.visitor.wallet()).toMatchObject({ balance: credits - owed, available: credits, held: 0 });
    expect(await findDisagreements(this.#db)).toEqual([]);
    await this.region("Subscription").scrollIntoViewIfNeeded();
    await this.walk.step(`${state}-subscription`);
    await this.region("Wallet").scrollIntoViewIfNeeded();
    await this.walk.step(`${state}-wallet`);
    await this.region("History").scrollIntoViewIfNeeded();
    await this.walk.step(`${state}-history`);
    const rows = this.region("Invoices").getByRole("listitem");
    await this.go("/profile/billing");
    await expect.poll(() => rows.count()).toBe(invoices.length);
    const shown = await rows.allTextContents();
    for (const [place, amount] of (await this.billed()).entries()) {
      expect(shown[place]).toContain(money(amount));
      expect(shown[place]).toContain(invoices[place]);
    }
    await this.walk.step(`${state}-invoices`);
  }

  /** Agrees in the order's dialog, and goes to the payment page. */
  async #placeOrder(name: string): Promise<void> {
    await this.page.getByRole("checkbox", { name: /^Begin at once/ }).check();
    const confirm = this.button("Order with obligation to pay");
    await this.walk.step(`${name}-order`, confirm);
    await confirm.click();
    await this.toSandbox();
  }

  /** From the plan's card to the page where it is paid. */
  async order(plan: string): Promise<void> {
    await this.button(`Subscribe to ${plan}`).click();
    await this.#placeOrder("plan");
    await this.walk.step("plan-payment", this.button(/^Subscribe for/));
  }

  async payWith(card: "success" | "declined", label: string | RegExp): Promise<void> {
    await this.page.locator(`input[value=${card}]`).check();
    await this.button(label).click();
  }

  /** From the order of a plan to its credits. */
  async subscribe(plan: string, credits: number): Promise<void> {
    await this.order(plan);
    await this.payWith("success", /^Subscribe for/);
    await this.heading(`${formatNumber(credits, "en")} credits are yours`).waitFor();
    await this.walk.step("plan-paid", this.page.getByRole("link", { name: "Start chatting" }));
  }

  /** From the wallet to a pack's credits in it. */
  async buy({ credits, priceCents }: Pack): Promise<void> {
    await this.go("/profile");
    await this.region("Wallet").getByRole("link", { name: "Buy a credit pack" }).click();
    await this.page.waitForURL("**/pricing#packs");
    const buy = this.button(`Buy ${credits} credits for ${money(priceCents)}`);
    await this.walk.step("packs", buy);
    await buy.click();
    await this.#placeOrder("pack");
    await this.walk.step("pack-payment", this.button(`Pay ${money(priceCents)}`));
    await this.payWith("success", `Pay ${money(priceCents)}`);
    await this.heading(`${credits} credits are yours`).waitFor();
    await this.walk.step("pack-paid", this.page.getByRole("link", { name: "Start chatting" }));
  }

  /** Opens the preview of a change, which names `sums`: what is paid today, then, and later. */
  async preview(label: string, sums: readonly number[]): Promise<void> {
    await this.button(label).click();
    await expect.poll(() => this.dialog.locator("dl dd").allTextContents()).toEqual(sums.map(money));
    await this.walk.step("preview", this.button("Order with obligation to pay"), this.button("Not now"));
  }

  async confirmChange(): Promise<void> {
    const day = await this.periodEnd();
    await this.button("Order with obligation to pay").click();
    await this.says(`Your plan changes on ${day}`);
  }

  /** Cancels after the dialog has said what stays, and resumes. `packCredits` are in the wallet. */
  async cancelAndResume(plan: string, packCredits: number): Promise<void> {
    const { page, walk } = this;
    const day = await this.periodEnd();
    await this.go("/profile");
    await this.button("Cancel plan").click();
    await this.dialog.getByText(`You keep the plan and its credits until ${day}. It is not renewed.`).waitFor();
    if (packCredits > 0) await this.dialog.getByText(`The ${packCredits} credits from your packs stay in your wallet.`).waitFor();
    await walk.step("cancel", this.button("Keep plan"), this.button("Cancel at the end"));
    await this.button("Cancel at the end").click();
    await this.dialog.waitFor({ state: "hidden" });
    await expect.poll(() => this.fact("Status").textContent()).toBe("Ends, not renewed");
    expect(await this.fact("Ends on").textContent()).toBe(day);
    await this.region("Wallet").getByText(`Your subscription ends on ${day}. No more credits come after that.`).waitFor();
    await this.isTold(`Your ${plan} plan is cancelled`);
    const resume = this.button("Resume plan");
    await resume.scrollIntoViewIfNeeded();
    await walk.step("cancelled", resume);
    await resume.click();
    await this.says("Your plan goes on and renews as before.");
    await expect.poll(() => this.fact("Status").textContent()).toBe("Active");
    await expect.poll(() => this.fact("Next billing date").textContent()).toBe(day);
    expect(await page.getByText(`Your plan ends on ${day}`).count()).toBe(0);
    await this.button("Cancel plan").waitFor();
    await walk.step("resumed", this.button("Cancel plan"));
  }

  /** Withdraws from the contract about `subject` in the two steps; `cents` go back. */
  async withdraw(subject: string, cents: number, effect: RegExp): Promise<void> {
    const { page, walk, dialog } = this;
    await this.go("/profile/billing");
    const contract = this.region("Withdraw from a contract").getByRole("listitem").filter({ hasText: subject });
    await contract.getByText(`You would get ${money(cents)} back now`).waitFor();
    const begin = contract.getByRole("button", { name: "Withdraw from contract here" });
    await begin.scrollIntoViewIfNeeded();
    await walk.step("contracts", begin);
    await begin.click();
    await dialog.getByText(effect).waitFor();
    const stated = await dialog.locator("dd").allTextContents();
    expect(stated).toEqual(expect.arrayContaining([this.visitor.email, subject, money(cents)]));
    const confirm = this.button("Confirm withdrawal");
    await walk.step("statement", confirm, this.button("Cancel"));
    await confirm.click();
    await contract.getByText(`${money(cents)} go back to the payment method you paid with.`).waitFor();
    await contract.getByText(`A confirmation is on its way to ${this.visitor.email}.`).waitFor();
    expect(await begin.count()).toBe(0);
    await page.getByText(subject).last().scrollIntoViewIfNeeded();
    await walk.step("withdrawn");
    await this.isTold("We received your withdrawal");
    await this.isTold(`${money(cents)} is on its way back to you`);
  }

  /** Takes the first payment back by the guarantee. */
  async takeMoneyBack(cents: number, plan: string): Promise<void> {
    const { walk, dialog } = this;
    const panel = this.region("Money-back guarantee");
    await this.go("/profile/billing");
    const begin = panel.getByRole("button", { name: `Get ${money(cents)} back` });
    await begin.scrollIntoViewIfNeeded();
    await walk.step("guarantee", begin);
    await begin.click();
    await dialog.getByText("Your plan ends at once.").waitFor();
    const confirm = this.button(`End the plan, get ${money(cents)} back`);
    await walk.step("guarantee-asked", confirm, this.button("Cancel"));
    await confirm.click();
    const [asked, returned] = [`${money(cents)} are on their way back to you.`, "This payment was paid back."] as const;
    await panel.getByText(asked).or(panel.getByText(returned)).waitFor();
    expect(await begin.count()).toBe(0);
    await panel.scrollIntoViewIfNeeded();
    await walk.step("guarantee-taken");
    await this.isTold(`${money(cents)} is on its way back to you`);
    await this.isTold(`Your ${plan} plan has ended`);
    await this.go("/profile/billing");
    await panel.getByText(returned).waitFor();
    await panel.scrollIntoViewIfNeeded();
    await walk.step("guarantee-returned");
  }
}
