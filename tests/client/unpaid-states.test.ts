/** A plan that is unpaid: what every page says of it, and the ways to pay. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import billing from "#client/i18n/locales/en/billing.json" with { type: "json" };
import invoices from "#client/i18n/locales/en/invoices.json" with { type: "json" };
import { daily } from "#tests/support/full.ts";
import type { Site } from "./frame-support.ts";
import { noPlan, onStubbedSite, open, starter } from "./states-support.ts";

const text = { ...invoices.unpaid, redirecting: invoices.redirecting };
let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const check = "POST /api/functions/reliable-subscription-check";
const link = "POST /api/billing/invoices/in_1/link" as "POST /api/billing/invoices/:id/link";
const unpaid = { invoiceId: "in_1", amountCents: 1999, until: "2026-03-17T12:00:00.000Z", needsAction: false, processing: false };
const notice = () => page.getByRole("region", { name: text.label });
const button = (name: string) => notice().getByRole("button", { name, exact: true });

async function visit(path: string, owed: Partial<typeof unpaid> = {}): Promise<void> {
  api.answer(check, { ...starter, status: "past_due", unpaid: { ...unpaid, ...owed } });
  page = await open(site, path, { member: true });
}

it.each(daily(["/", "/ai-models", "/profile", "/pricing"]))(
  "says on %s how much is unpaid and until when access lasts, above what the page shows",
  async (path) => {
    await visit(path);
    await notice().getByText("Your payment of $19.99 failed. Access until March 17, 2026.").waitFor();
    const box = await notice().boundingBox();
    expect(box?.height).toBeLessThan(70);
    // It takes a place of its own, so it covers nothing.
    expect(await notice().evaluate((element) => getComputedStyle(element).position)).toBe("static");
  },
);

it("leads to paying, says so meanwhile, and says when the payment page can't be reached", async () => {
  await visit("/");
  api.refuse(link, 502, "payment_provider_unavailable");
  await button(text.pay).click();
  await notice().getByRole("alert").waitFor();
  api.answer(link, { url: `${site.address}/terms` });
  const release = api.hold(link);
  await button(text.pay).click();
  await button(text.redirecting).waitFor();
  release();
  await page.waitForURL("**/terms");
  expect(api.calls(link).map(({ body }) => body)).toEqual([{ document: "pay" }, { document: "pay" }]);
});

it("asks to confirm the payment where the bank wants that", async () => {
  await visit("/", { needsAction: true, processing: false });
  await notice().getByText("Your bank wants you to confirm the payment of $19.99.").waitFor();
  await button(text.confirm).waitFor();
});

it.each([null, unpaid.until])("asks for nothing while a bank that was told to debit has not answered (access until %s)", async (until) => {
  api.answer(check, { ...starter, status: until === null ? "incomplete" : "past_due", unpaid: { ...unpaid, until, processing: true } });
  page = await open(site, "/profile", { member: true });
  await notice().getByText("Your bank has been asked for $19.99.").waitFor();
  await page.getByText(billing.subscription.processingText).waitFor();
  expect([await page.getByText(/Access until/).count(), await notice().getByRole("button").allTextContents()]).toEqual([0, [""]]);
  expect(await page.getByRole("button", { name: billing.subscription.payNow }).count()).toBe(0);
  expect(await page.getByText(billing.subscription.paymentFailed, { exact: true }).count()).toBe(0);
});

it("who comes back from the payment page is told that the bank takes days, for a plan and for a pack", async () => {
  const back = "POST /api/billing/checkout-return";
  api.answer(back, { state: "processing", packCredits: null });
  api.answer(check, { ...noPlan, status: "incomplete", unpaid: { ...unpaid, until: null, processing: true } });
  page = await open(site, "/profile?checkout=success&session_id=cs_1", { member: true });
  const heading = page.getByRole("heading", { level: 2, name: billing.return.processingTitle, exact: true });
  await heading.waitFor();
  await page.getByText(billing.return.processingText).waitFor();
  api.answer(back, { state: "processing", packCredits: 250 });
  api.answer(check, starter);
  await page.reload();
  await heading.waitFor();
  api.answer(back, { state: "paid", packCredits: 250 });
  await page.reload();
  await page.getByRole("heading", { level: 2, name: "250 credits are yours" }).waitFor();
});

it("says in the account, too, by when a transfer is due, not that a card was declined", async () => {
  api.answer(check, { ...starter, status: "past_due", unpaid: { ...unpaid, dueAt: "2026-03-24T12:00:00.000Z" } });
  page = await open(site, "/profile", { member: true });
  await expect.poll(() => page.getByText("is to be paid by bank transfer by March 24, 2026").count()).toBe(2);
  expect(await page.getByText(billing.subscription.paymentFailed, { exact: true }).count()).toBe(0);
});

it("says by when an invoice is to be paid by bank transfer, and opens it", async () => {
  api.answer(check, { ...starter, status: "incomplete", unpaid: { ...unpaid, until: null, dueAt: "2026-03-24T12:00:00.000Z" } });
  page = await open(site, "/", { member: true });
  await notice().getByText("Your invoice of $19.99 is to be paid by bank transfer by March 24, 2026.").waitFor();
  await button(text.open).waitFor();
});

it("can be hidden for the visit, also over a reload; another unpaid invoice is shown", async () => {
  await visit("/");
  await button(text.hide).click();
  await expect.poll(() => notice().count()).toBe(0);
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
  await page.reload();
  await expect.poll(() => api.calls(check).length).toBe(2);
  expect(await notice().count()).toBe(0);
  api.answer(check, { ...starter, status: "past_due", unpaid: { ...unpaid, invoiceId: "in_2" } });
  await page.reload();
  await notice().waitFor();
});

it("in the account the subscription's own button leads to paying too, and says when that fails", async () => {
  await visit("/profile");
  const pay = page.getByRole("button", { name: billing.subscription.payNow });
  api.refuse(link, 502, "payment_provider_unavailable");
  await pay.click();
  await page.getByText(billing.subscription.portalFailed, { exact: true }).waitFor();
  api.answer(link, { url: `${site.address}/terms` });
  await pay.click();
  await page.waitForURL("**/terms");
});

it("refreshing asks for the credits as well", async () => {
  await visit("/profile");
  await expect.poll(() => api.calls("GET /api/credits/wallet").length).toBeGreaterThan(0);
  const before = api.calls("GET /api/credits/wallet").length;
  await page.getByRole("button", { name: billing.subscription.refresh, exact: true }).click();
  await expect.poll(() => api.calls("GET /api/credits/wallet").length).toBe(before + 1);
});
