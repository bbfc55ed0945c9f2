/** Withdrawing from a contract: what the page shows of each, its two steps, and what it says when it arrived or was refused. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import texts from "#client/i18n/locales/en/refunds.json" with { type: "json" };
import refusals from "#client/i18n/locales/en/refusals.json" with { type: "json" };
import type { Contract } from "#contract/billing/withdrawals.ts";
import { daily } from "#tests/support/full.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const askCall = "POST /api/billing/withdrawals";
const words = texts.withdrawal;
const plan: Contract = {
  id: "in_plan",
  subject: { kind: "plan", plan: "starter", interval: "month" },
  state: "open",
  concludedAt: "2026-03-01T09:30:00.000Z",
  until: "2026-03-15T23:59:59.999Z",
  amountCents: 1327,
  grantedCredits: 300,
  unspentCredits: 199,
  byTransfer: false,
  withdrawnAt: null,
};
const pack: Contract = {
  ...plan,
  id: "in_pack",
  subject: { kind: "pack", credits: 100 },
  amountCents: 799,
  grantedCredits: 100,
  unspentCredits: 100,
};

async function visit(contracts: Contract[], name: string | null = "Ada Lovelace", path = "/profile/billing"): Promise<void> {
  api.answer("GET /api/billing/invoices", { invoices: [], nextCursor: null, reading: false });
  api.answer("GET /api/billing/money-back", { moneyBack: null });
  api.answer("GET /api/billing/withdrawals", { name, email: "ada@example.com", contracts });
  page = await open(site, path, { member: true });
}

it("shows each contract with its period and sum; the statement names who and what; then the withdrawal has arrived", async () => {
  await visit([plan, pack]);
  await page.getByText("Concluded on March 1, 2026.").first().waitFor();
  await page.getByText("You would get $13.27 back now: 199 of 300 credits are unspent.").waitFor();
  const begin = page.getByRole("button", { name: words.begin, exact: true });
  expect(await begin.count()).toBe(2);
  await begin.first().click();
  const dialog = page.getByRole("dialog", { name: words.statement });
  await dialog.getByText(words.effect.plan).waitFor();
  expect(await dialog.locator("dd").allTextContents()).toEqual([
    "Ada Lovelace",
    "ada@example.com",
    "Starter Plan, one month",
    "March 1, 2026",
    "$13.27",
  ]);
  api.answer(askCall, { ...plan, state: "withdrawn", withdrawnAt: "2026-03-03T10:00:00.000Z" });
  await dialog.getByRole("button", { name: words.confirm, exact: true }).click();
  await page.getByText(/Your withdrawal arrived on Mar(ch)? 3, 2026.*\$13\.27 go back.*ada@example\.com/).waitFor();
  expect(api.calls(askCall).map(({ body }) => body)).toEqual([{ contractId: "in_plan" }]);
  expect(await begin.count()).toBe(1);
});

it("of what was paid by bank transfer it says that we transfer it back", async () => {
  await visit([{ ...plan, state: "withdrawn", withdrawnAt: "2026-03-03T10:00:00.000Z", byTransfer: true }], null);
  await page.getByText(/We transfer \$13\.27 to the account you paid from, within 14 days at the latest/).waitFor();
});

it("says why it was refused, and stays open", async () => {
  await visit([pack], null);
  await page.getByRole("button", { name: words.begin, exact: true }).click();
  const dialog = page.getByRole("dialog", { name: words.statement });
  await dialog.getByText(words.effect.pack).waitFor();
  expect(await dialog.locator("dd").count()).toBe(4);
  api.refuse(askCall, 409, "withdrawal_too_late");
  await dialog.getByRole("button", { name: words.confirm, exact: true }).click();
  await dialog.getByText(refusals.withdrawal_too_late).waitFor();
});

const overStates = [
  ["used", words.used],
  ["asked", texts.moneyBack.asked.replace("{{amount}}", "$13.27")],
  ["returned", texts.moneyBack.returned],
  ["disputed", texts.moneyBack.disputed],
] as const;
it.each(daily(overStates))("offers nothing when it is %s, and says why", async (state, sentence) => {
  await visit([{ ...plan, state }]);
  await page.getByText(sentence).waitFor();
  expect(await page.getByRole("button", { name: words.begin }).count()).toBe(0);
});

it("is not there for who has no contract to withdraw from", async () => {
  await visit([]);
  await page.getByRole("heading", { name: "Invoices" }).first().waitFor();
  expect(await page.getByRole("heading", { name: words.title }).count()).toBe(0);
});

it("is reached from every page's footer, and says so if there is no contract to withdraw from", async () => {
  await visit([], null, "/about");
  await page.getByRole("contentinfo").getByRole("link", { name: "Withdraw from contract" }).click();
  await page.waitForURL("**/profile/billing#withdrawal");
  await page.getByText(words.none).waitFor();
  const heading = page.getByRole("heading", { name: words.title });
  await expect.poll(async () => ((await heading.boundingBox())?.y ?? 9_999) < 900).toBe(true);
});

it("leads signed-out people through signing in", async () => {
  page = await open(site, "/about");
  await page.getByRole("contentinfo").getByRole("link", { name: "Withdraw from contract" }).click();
  const signIn = page.getByRole("main").getByRole("link", { name: /sign in/i });
  expect(await signIn.getAttribute("href")).toBe(`/auth?return=${encodeURIComponent("/profile/billing#withdrawal")}`);
});
