/** The notice that a share of the month's plan credits is spent: on every page, until it is closed. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import limits from "#client/i18n/locales/en/limits.json" with { type: "json" };
import { daily } from "#tests/support/full.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open, starter } from "./states-support.ts";

const text = limits.low;
let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const check = "POST /api/functions/reliable-subscription-check";
const dismiss = "POST /api/credits/alert/dismiss";
const notice = () => page.getByRole("region", { name: text.label });
/** The wallet is newer than the check, so every page shows what it says. */
const wallet = { balance: 60, held: 0, available: 60, frozen: false, grants: [], serverTime: starter.server_time };
const low = { ...starter, credits: 60, spent_percent: 80, next_credits_at: starter.subscription_end };

it.each(daily(["/", "/ai-models", "/profile", "/pricing"]))("says on %s what is spent, what is left and when more comes", async (path) => {
  api.answer(check, low);
  api.answer("GET /api/credits/wallet", wallet);
  page = await open(site, path, { member: true });
  await notice()
    .getByText(/^You have spent 80% of this month’s plan credits. Left to spend: 60 credits. The next ones come on April 1, 2026.$/)
    .waitFor();
  expect(await notice().getByRole("link", { name: text.more }).getAttribute("href")).toBe("/pricing#packs");
  expect(await notice().getByRole("link", { name: text.change }).getAttribute("href")).toBe("/profile/usage#limits");
  expect(await notice().evaluate((element) => getComputedStyle(element).position)).toBe("static");
});

it("says when the plan ends instead, and goes when it is closed, for good", async () => {
  api.answer(check, { ...low, next_credits_at: null, cancel_at_period_end: true });
  page = await open(site, "/", { member: true });
  await notice()
    .getByText(/Your plan ends on/)
    .waitFor();
  api.refuse(dismiss, 503, "service_unavailable");
  const close = notice().getByRole("button", { name: text.hide });
  await close.click();
  await notice().getByRole("alert").waitFor();
  api.answer(dismiss, null);
  api.answer(check, starter);
  await close.click();
  await expect.poll(() => notice().count()).toBe(0);
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
});

it("is not there before the share is spent", async () => {
  api.answer(check, starter);
  page = await open(site, "/profile", { member: true });
  await expect.poll(() => api.calls("GET /api/credits/wallet").length).toBeGreaterThan(0);
  expect(await notice().count()).toBe(0);
});
