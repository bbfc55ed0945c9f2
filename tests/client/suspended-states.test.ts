/** A plan on hold: the pages say so, and lead to paying for it or ending it instead of to plans that can't be ordered. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import billing from "#client/i18n/locales/en/billing.json" with { type: "json" };
import text from "#client/i18n/locales/en/change.json" with { type: "json" };
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { Site } from "./frame-support.ts";
import { noPlan, onStubbedSite, open } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});
const check = "POST /api/functions/reliable-subscription-check";
const link = "POST /api/billing/invoices/in_1/link" as "POST /api/billing/invoices/:id/link";
const cancellation = "POST /api/billing/cancellation";
const suspended: SubscriptionCheck = { ...noPlan, status: "suspended", subscription_end: "2026-04-01T00:00:00.000Z" };
const owing = { ...suspended, unpaid: { invoiceId: "in_1", amountCents: 1999, until: null, needsAction: false, processing: false } };

async function visit(path: string, answer: SubscriptionCheck): Promise<void> {
  api.answer(check, answer);
  page = await open(site, path, { member: true });
}
const says = (words: string) => page.getByText(words, { exact: true }).waitFor();
const button = (name: string) => page.getByRole("main").getByRole("button", { name, exact: true });

it("in the account leads to paying its invoice, and says on every page that the payment failed, without a day of access", async () => {
  await visit("/profile", owing);
  await says(text.suspended.title);
  await says(text.suspended.unpaid);
  await page.getByText("Your payment of $19.99 failed.").waitFor();
  expect(await page.getByText("Access until").count()).toBe(0);
  expect(await page.getByText(billing.subscription.viewPlans).count()).toBe(0);
  api.answer(link, { url: `${site.address}/terms` });
  await button(text.suspended.pay).click();
  await page.waitForURL("**/terms");
});

it("in the account is ended at once, after saying what that means", async () => {
  await visit("/profile", suspended);
  await says(text.suspended.text);
  expect(await button(text.suspended.pay).count()).toBe(0);
  await button(text.suspended.open).click();
  await says(text.suspended.ends);
  expect(await page.getByText(text.suspended.drops).count()).toBe(0);
  api.answer(cancellation, { ...noPlan, status: "canceled", subscription_end: "2026-03-10T12:00:00.000Z" });
  await page.getByRole("dialog").getByRole("button", { name: text.suspended.confirm, exact: true }).click();
  await page.getByRole("link", { name: billing.subscription.viewPlans }).waitFor();
  expect(api.calls(cancellation)).toHaveLength(1);
});

it("on the models' page leads to the account and not to the plans", async () => {
  await visit("/ai-models", suspended);
  await says(text.suspended.noAccess);
  await page.getByRole("link", { name: text.suspended.toAccount, exact: true }).waitFor();
  expect(await page.getByRole("link", { name: "View plans", exact: true }).count()).toBe(0);
});
