/** A subscriber changes the plan, takes that back, cancels and resumes: on the page of prices and in the account. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import billing from "#client/i18n/locales/en/billing.json" with { type: "json" };
import text from "#client/i18n/locales/en/change.json" with { type: "json" };
import order from "#client/i18n/locales/en/order.json" with { type: "json" };
import refusals from "#client/i18n/locales/en/refusals.json" with { type: "json" };
import { formatDate, formatMoney } from "#client/lib/format.ts";
import type { PlanChangePreview } from "#contract/billing/plan-change.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import { daily } from "#tests/support/full.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open, starter } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const checkCall = "POST /api/functions/reliable-subscription-check";
const previewCall = "POST /api/billing/plan-change/preview";
const changeCall = "POST /api/billing/plan-change";
const undoCall = "DELETE /api/billing/plan-change";
const cancelCall = "POST /api/billing/cancellation";
const resumeCall = "DELETE /api/billing/cancellation";

const from = starter.subscription_end ?? "";
const day = formatDate(from, "en");
const paid: SubscriptionCheck = { ...starter, next_credits_at: from };
const coming: SubscriptionCheck = { ...paid, plan_to_come: { plan: "basic", interval: "month", from } };
const ending: SubscriptionCheck = { ...paid, cancel_at_period_end: true, next_credits_at: null };
const preview: PlanChangePreview = {
  from: { plan: "starter", interval: "month", priceCents: 1999, credits: 300 },
  to: { plan: "basic", interval: "month", priceCents: 3999, credits: 600 },
  dueNowCents: 0,
  effectiveAt: from,
  amountCents: 2999,
  laterCents: 3999,
  tax: { percent: null },
  planCreditsLeft: 254,
  replaces: { plan: "enterprise", interval: "year" },
};

const money = (cents: number) => formatMoney(cents, "en");
const planCard = (name: string) => page.getByRole("listitem", { name, exact: true });
const dialog = () => page.getByRole("dialog");
const button = (name: string) => page.getByRole("button", { name, exact: true });
const sum = (name: string) =>
  dialog()
    .locator("dl > div", { has: page.getByText(name, { exact: true }) })
    .locator("dd");

async function visit(path: string, check: SubscriptionCheck): Promise<void> {
  api.answer(checkCall, check);
  page = await open(site, path, { member: true });
}

it("is previewed in money, dates and credits before it is confirmed, once", async () => {
  await visit("/pricing", paid);
  api.answer(previewCall, preview);
  const open = planCard("Basic").getByRole("button", { name: "Change to Basic" });
  await open.click();
  await sum(text.dialog.today).waitFor();
  expect(await sum(text.dialog.today).textContent()).toBe(money(0));
  expect(await sum(text.dialog.first.replace("{{date}}", day)).textContent()).toBe(`${money(2999)}${money(3999)} less your discount`);
  expect(await sum(text.dialog.later.month).textContent()).toBe(money(3999));
  for (const shown of [
    /Starter.*\$19\.99 a month.*300 credits/,
    /Basic.*\$39\.99 a month.*600 credits/,
    /has 254 credits left/,
    /Enterprise/,
  ])
    expect(await dialog().textContent()).toMatch(shown);
  api.answer(changeCall, coming);
  api.answer(checkCall, coming);
  const release = api.hold(changeCall);
  await button(order.confirm).click();
  await button(text.dialog.confirming).click({ force: true });
  release();
  await dialog().waitFor({ state: "hidden" });
  expect(api.calls(changeCall).map(({ body }) => body)).toEqual([{ priceId: "basic_month", effectiveAt: from, amountCents: 2999 }]);
  await planCard("Basic").getByText(text.comes.replace("{{date}}", day), { exact: true }).waitFor();
  await page.getByText(new RegExp(`The next 600 credits come on ${day}\\. On ${day} it changes to Basic`)).waitFor();
});

it("that would mean something else by now is shown again, and not made", async () => {
  await visit("/pricing", paid);
  api.answer(previewCall, preview);
  await planCard("Basic").getByRole("button", { name: "Change to Basic" }).click();
  await button(order.confirm).waitFor();
  api.answer(previewCall, { ...preview, amountCents: 3999, replaces: null });
  api.refuse(changeCall, 409, "preview_outdated");
  await button(order.confirm).click();
  await dialog().getByText(refusals.preview_outdated, { exact: true }).waitFor();
  await expect.poll(() => sum(text.dialog.first.replace("{{date}}", day)).textContent()).toBe(money(3999));
  await button(text.dialog.keep).click();
  await dialog().waitFor({ state: "hidden" });
});

it.each(daily(["plan_unpaid", "plan_ending", "payment_provider_unavailable"] as const))("that is refused (%s) says why", async (code) => {
  await visit("/pricing", paid);
  api.refuse(previewCall, 409, code);
  await planCard("Enterprise").getByRole("button", { name: "Change to Enterprise" }).click();
  await dialog().getByText(refusals[code], { exact: true }).waitFor();
  expect(await button(order.confirm).count()).toBe(0);
});

it("that is planned is marked with its date on the card and in the account, and taken back on either", async () => {
  await visit("/pricing", coming);
  await planCard("Basic").getByText(text.comes.replace("{{date}}", day), { exact: true }).waitFor();
  api.refuse(undoCall, 502, "payment_provider_unavailable");
  await planCard("Basic").getByRole("button", { name: text.undo }).click();
  await page.getByText(text.undoFailed, { exact: true }).waitFor();
  api.answer(undoCall, paid);
  api.answer(checkCall, paid);
  await planCard("Basic").getByRole("button", { name: text.undo }).click();
  await planCard("Basic").getByRole("button", { name: "Change to Basic" }).waitFor();
  // Whoever subscribed before a price rose keeps the earlier one.
  await visit("/profile", { ...coming, price_cents: 1499 });
  await page.getByText(billing.subscription.perMonth.replace("{{price}}", money(1499))).waitFor();
  await page.getByText(text.coming.title.replace("{{date}}", day), { exact: true }).waitFor();
  api.answer(checkCall, paid);
  await button(text.undo).click();
  await page.getByText(text.coming.title.replace("{{date}}", day), { exact: true }).waitFor({ state: "hidden" });
  await page.getByText(text.undone, { exact: true }).waitFor();
  expect(api.calls(undoCall)).toHaveLength(3);
});

it("a cancellation says what ends and what stays before it is made, and is taken back", async () => {
  const grants = [
    { id: "019a0000-0000-7000-8000-000000000001", kind: "pack", credits: 250, remaining: 240, held: 0, expiresAt: from, createdAt: from },
  ] as const;
  api.answer("GET /api/credits/wallet", { balance: 540, held: 0, available: 540, frozen: false, grants: [...grants], serverTime: from });
  await visit("/profile", coming);
  await button(text.cancel.open).click();
  await dialog().getByText(text.cancel.until.replace("{{date}}", day), { exact: true }).waitFor();
  for (const said of [
    text.cancel.stop,
    text.cancel.packs.replace("{{credits}}", "240 credits"),
    text.cancel.drops.replace("{{plan}}", "Basic, billed monthly"),
  ])
    await dialog().getByText(said, { exact: true }).waitFor();
  await button(text.cancel.keep).click();
  await dialog().waitFor({ state: "hidden" });
  expect(api.calls(cancelCall)).toEqual([]);
  await button(text.cancel.open).click();
  api.answer(cancelCall, ending);
  api.answer(checkCall, ending);
  await button(text.cancel.confirm).click();
  await page.getByText(text.ending.text, { exact: true }).waitFor();
  expect(await button(text.cancel.open).count()).toBe(0);
  api.answer(resumeCall, paid);
  api.answer(checkCall, paid);
  await button(text.ending.resume).click();
  await button(text.cancel.open).waitFor();
  await page.getByText(text.ending.resumed, { exact: true }).waitFor();
  // What was said of the end does not stand beside it.
  expect(await page.getByText(text.cancel.done.replace("{{date}}", day), { exact: true }).count()).toBe(0);
  expect([api.calls(cancelCall).length, api.calls(resumeCall).length]).toEqual([1, 1]);
});
