/** An offer to be paid by bank transfer: shown, ordered with consent, once, and then invoiced. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import texts from "#client/i18n/locales/en/order.json" with { type: "json" };
import type { TransferOffer } from "#contract/billing/transfers.ts";
import { consentTo } from "#tests/support/consent.ts";
import type { Site } from "./frame-support.ts";
import { agree, orderOf } from "./order-support.ts";
import { onStubbedSite, open } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const offerCall = "GET /api/billing/transfer-offer";
const orderCall = "POST /api/billing/transfer-offer/order";
const offer: TransferOffer = { order: orderOf("enterprise_month"), daysUntilDue: 14, expiresAt: "2026-04-09T12:00:00.000Z" };

async function visit(): Promise<void> {
  api.answer("GET /api/billing/invoices", { invoices: [], nextCursor: null, reading: false });
  page = await open(site, "/profile/billing", { member: true });
}

it("is there only if the team has made one", async () => {
  api.answer(offerCall, { offer: null });
  await visit();
  await page.getByRole("heading", { name: "Invoices", exact: true }).waitFor();
  expect(await page.getByText(texts.offer.title, { exact: true }).count()).toBe(0);
});

it("shows the order with how it is paid, and is ordered with the consent, once; then the invoice comes by email", async () => {
  api.answer(offerCall, { offer });
  api.answer(orderCall, { invoiceId: "in_1", number: "T-1", amountCents: 9999, dueAt: "2026-03-24T12:00:00.000Z" });
  await visit();
  await page.getByText("The Enterprise plan, paid by bank transfer. You can order it until April 9, 2026.").waitFor();
  await page.getByRole("button", { name: texts.offer.open }).click();
  const dialog = page.getByRole("dialog", { name: texts.title });
  await dialog.getByRole("checkbox").waitFor();
  const said = (await dialog.textContent()) ?? "";
  for (const part of [
    "Enterprise",
    "1,250 credits",
    "$99.99",
    "Payment term: 14 days.",
    "renews on April 10, 2026",
    texts.howTransfer,
    "within 14 days",
  ])
    expect(said).toContain(part);
  api.answer(offerCall, { offer: null });
  await agree(page);
  await page.getByText(texts.offer.ordered).waitFor();
  await expect.poll(() => dialog.count()).toBe(0);
  expect(api.calls(orderCall).map(({ body }) => body)).toEqual([{ consent: consentTo("enterprise_month") }]);
});

it("that is over by now says so", async () => {
  api.answer(offerCall, { offer });
  api.refuse(orderCall, 409, "already_subscribed");
  await visit();
  await page.getByRole("button", { name: texts.offer.open }).click();
  await page.getByRole("dialog", { name: texts.title }).getByRole("checkbox").waitFor();
  await agree(page);
  await page.getByText(texts.notPlaced).waitFor();
});
