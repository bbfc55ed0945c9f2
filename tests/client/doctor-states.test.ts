/** The check of one's payments: what it says of each thing it put right, and when it could not look or may not yet. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import text from "#client/i18n/locales/en/doctor.json" with { type: "json" };
import type { PaymentCheck } from "#contract/billing/doctor.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});
const call = "POST /api/billing/doctor";
const check = async (answer: PaymentCheck) => {
  api.answer("GET /api/billing/invoices", { invoices: [], nextCursor: null, reading: false });
  api.answer(call, answer);
  page = await open(site, "/profile/billing", { member: true });
  await page.getByRole("button", { name: text.check, exact: true }).click();
};
const says = (words: string) => page.getByText(words, { exact: true }).waitFor();

it("says what was put right, each payment with its day, its amount and its credits", async () => {
  await check({
    complete: true,
    items: [
      { kind: "payment_booked", paidAt: "2026-03-10T09:30:00.000Z", amountCents: 1999, credits: 300 },
      { kind: "credits_released", credits: 12 },
      { kind: "doubled_removed", credits: 300 },
      { kind: "left" },
    ],
  });
  await says(text.mended);
  await page.getByText(/^The payment of .*10.*2026, \$19.99, is booked: 300 credits\.$/).waitFor();
  await says("Available again: 12 credits. They were still held for an answer that had ended.");
  await says("Taken back: 300 credits. They had been added twice for one payment.");
  await says(text.item.left);
  expect(await page.getByText(text.right).count()).toBe(0);
});

it("says of a refund and of a disputed payment that it was missing, and of credits that nobody used that they are back", async () => {
  await check({ complete: true, items: [{ kind: "refund_booked" }, { kind: "credits_released", credits: 40 }] });
  await says(text.mended);
  await says(text.item.refund);
  await says("Available again: 40 credits. They were still held for an answer that had ended.");
  expect(await page.getByText(text.right).count()).toBe(0);
  expect(await page.getByText(text.item.left).count()).toBe(0);
});

it("says that not everything was looked at, and does not call that right", async () => {
  await check({ complete: false, items: [] });
  await says(text.incomplete);
  expect(await page.getByText(text.right).count()).toBe(0);
});

it("says that everything is right, and why a check is refused", async () => {
  await check({ complete: true, items: [] });
  await says(text.right);
  api.refuse(call, 429, "rate_limited", { retryAfterSeconds: 600 });
  await page.getByRole("button", { name: text.again, exact: true }).click();
  await page.getByRole("alert").waitFor();
  expect(await page.getByText(text.right).count()).toBe(0);
});
