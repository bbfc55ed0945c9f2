/** The money-back guarantee: what it says before, in its two steps, and when it is refused. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import texts from "#client/i18n/locales/en/refunds.json" with { type: "json" };
import type { MoneyBack } from "#contract/billing/money-back.ts";
import { daily } from "#tests/support/full.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const readCall = "GET /api/billing/money-back";
const askCall = "POST /api/billing/money-back";
const open14: MoneyBack = {
  state: "open",
  amountCents: 1999,
  paidAt: "2026-03-01T09:30:00.000Z",
  until: "2026-03-15T09:30:00.000Z",
  spentCredits: 12,
  allowedCredits: 60,
  byTransfer: false,
};
const button = (name: string) => page.getByRole("button", { name, exact: true });

async function visit(moneyBack: MoneyBack | null): Promise<void> {
  api.answer("GET /api/billing/invoices", { invoices: [], nextCursor: null, reading: false });
  api.answer(readCall, { moneyBack });
  page = await open(site, "/profile/billing", { member: true });
}

it("says the rule, the figures and the sum, asks once more, and then that the money is on its way", async () => {
  await visit({ ...open14, byTransfer: true });
  await page.getByText("within 14 days, as long as no more than 20%").waitFor();
  await page.getByText("Spent so far: 12. The limit: 60.").waitFor();
  await page.getByText("You can take $19.99 back until March 15, 2026.").waitFor();
  await button("Get $19.99 back").click();
  const dialog = page.getByRole("dialog", { name: "Take $19.99 back?" });
  await dialog.getByText("We transfer $19.99 to the account you paid from, within 14 days at the latest.").waitFor();
  await dialog.getByText(texts.moneyBack.plan).waitFor();
  await dialog.getByText(texts.moneyBack.credits).waitFor();
  api.answer(askCall, { ...open14, state: "asked" });
  await dialog.getByRole("button", { name: "End the plan, get $19.99 back", exact: true }).click();
  await page.getByText("$19.99 are on their way back to you.").waitFor();
  expect(await button("Get $19.99 back").count()).toBe(0);
});

const overStates = [
  ["too_late", "That was possible until March 15, 2026."],
  ["used", texts.moneyBack.used],
  ["returned", texts.moneyBack.returned],
  ["disputed", texts.moneyBack.disputed],
] as const;
it.each(daily(overStates))("offers nothing when it is %s, and says why", async (state, words) => {
  await visit({ ...open14, state });
  await page.getByText(words).waitFor();
  expect(await page.getByRole("button", { name: /back$/ }).count()).toBe(0);
});

it("is not there for who never paid", async () => {
  await visit(null);
  await page.getByRole("heading", { name: "Invoices" }).first().waitFor();
  expect(await page.getByRole("heading", { name: texts.moneyBack.title }).count()).toBe(0);
});
