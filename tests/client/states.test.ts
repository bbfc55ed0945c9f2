/** The states of a page outside the happy path: waiting, refused, failed, not allowed (specification §2, §4, §5, §8). */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import billing from "#client/i18n/locales/en/billing.json" with { type: "json" };
import common from "#client/i18n/locales/en/common.json" with { type: "json" };
import errors from "#client/i18n/locales/en/errors.json" with { type: "json" };
import offline from "#client/i18n/locales/en/offline.json" with { type: "json" };
import order from "#client/i18n/locales/en/order.json" with { type: "json" };
import refusals from "#client/i18n/locales/en/refusals.json" with { type: "json" };
import { formatDate, formatDateTime, formatMoney } from "#client/lib/format.ts";
import { offeredModels } from "#client/lib/offered-models.ts";
import { modelCategories } from "#domain/models.ts";
import { planList, plans, priceCents } from "#domain/plans.ts";
import { ruleMessages } from "#domain/rules.ts";
import { openWithCard } from "#tests/e2e/forms-support.ts";
import { consentTo } from "#tests/support/consent.ts";
import { daily, full } from "#tests/support/full.ts";
import type { Site } from "./frame-support.ts";
import { openPage } from "./frame-support.ts";
import { agree, orderOf } from "./order-support.ts";
import { account, discountOf, noPlan, onStubbedSite, open as openOn, sessionOf, starter } from "./states-support.ts";

const models = offeredModels();

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

async function open(...[path, options]: [path: string, options?: Parameters<typeof openOn>[2]]): Promise<void> {
  page = await openOn(site, path, options);
}

const check = "POST /api/functions/reliable-subscription-check";
const checkout = "POST /api/functions/create-checkout";
const preview = "POST /api/billing/order/preview";
const planCard = (name: string) => page.getByRole("listitem", { name, exact: true });
const toasts = () => page.getByRole("region", { name: common.notifications });
const dialog = () => page.getByRole("dialog", { name: order.title });
const says = (text: string) => page.getByText(text, { exact: true }).waitFor();

/** The value beside a name in a description list. */
const fact = (name: string) => page.locator("dl > div", { has: page.getByText(name, { exact: true }) }).locator("dd");

describe("subscribing (specification §2, §4, §8)", () => {
  it("shows each plan's monthly price and its credits per dollar, and once that is chosen the annual one with what it is by the month", async () => {
    await open("/pricing");
    for (const interval of full ? (["month", "year", "month"] as const) : (["year"] as const)) {
      await page.getByRole("radio", { name: interval === "month" ? "Monthly" : /^Annual/ }).check();
      for (const plan of planList) {
        const price = planCard(plan.name).getByText(formatMoney(priceCents(plan, interval), "en"), { exact: true });
        await expect.poll(() => price.isVisible(), { message: `${plan.name} by the ${interval}` }).toBe(true);
        expect(
          await planCard(plan.name)
            .getByText(/^Credits per dollar: [\d.]+$/)
            .isVisible(),
        ).toBe(true);
        const byTheMonth = formatMoney(Math.round(priceCents(plan, "year") / 12), "en");
        expect(await planCard(plan.name).getByText(byTheMonth).count()).toBe(interval === "year" ? 1 : 0);
      }
    }
  });

  it("asks a visitor to sign in first, and returns to the prices afterwards", async () => {
    await open("/pricing");
    await page.getByRole("button", { name: "Subscribe to Basic" }).click();
    await toasts().getByText("Authentication Required", { exact: true }).waitFor();
    await toasts().getByText("Please sign in to subscribe to a plan.", { exact: true }).waitFor();
    await page.waitForURL("**/auth?return=%2Fpricing");
    expect(api.calls(checkout)).toEqual([]);
  });

  it("shows a processing label while checkout is created, requests it once, and opens the payment page", async () => {
    api.answer(preview, orderOf("basic_month"));
    api.answer(checkout, { url: `${site.address}/terms` });
    const release = api.hold(checkout);
    await open("/pricing", { member: true });
    await page.getByRole("button", { name: "Subscribe to Basic" }).click();
    await agree(page);
    for (const place of [dialog(), planCard("Basic")])
      await place.getByRole("button", { name: "Processing…", includeHidden: true }).waitFor();
    await dialog().getByRole("button", { name: "Processing…" }).click({ force: true });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Processing…");
    expect(api.calls(checkout).map(({ body }) => body)).toEqual([{ priceId: "basic_month", consent: consentTo("basic_month") }]);
    release();
    await page.waitForURL("**/terms");
  });

  it("says why a checkout failed, and offers it again", async () => {
    api.answer(preview, orderOf("basic_month"));
    api.refuse(checkout, 502, "payment_provider_unavailable");
    await open("/pricing", { member: true });
    await page.getByRole("button", { name: "Subscribe to Basic" }).click();
    await agree(page);
    await dialog().getByText("Subscription Error", { exact: true }).waitFor();
    await dialog().getByText(`Failed to create subscription: ${refusals.payment_provider_unavailable}`, { exact: true }).waitFor();
    expect(await dialog().getByRole("button", { name: order.confirm }).getAttribute("aria-disabled")).not.toBe("true");
  });

  it.runIf(full)("reports a response without an address", async () => {
    api.answer(preview, orderOf("basic_month"));
    api.answer(checkout, { url: "" });
    await open("/pricing", { member: true });
    await page.getByRole("button", { name: "Subscribe to Basic" }).click();
    await agree(page);
    await dialog()
      .getByText(/^Failed to create subscription: No checkout URL received\s+The payment page didn't open\. Try again\.$/)
      .waitFor();
  });

  const end = formatDate(starter.subscription_end ?? "", "en");

  it("shows a subscriber the credits left, when more come, where to end the plan, and the way to each other plan", async () => {
    api.answer(check, { ...starter, credits: 0, next_credits_at: starter.subscription_end });
    await open("/pricing", { member: true });
    await planCard("Starter").getByRole("button", { name: "Current Plan" }).waitFor();
    await page.getByText(`You have 0 credits. The next 300 credits come on ${end}.`).waitFor();
    expect(await page.locator('main a[href="/profile"]').count()).toBe(1);
    for (const interval of ["Monthly", /^Annual/]) {
      await page.getByRole("radio", { name: interval }).check();
      for (const plan of planList) {
        const current = plan.key === "starter" && interval === "Monthly";
        const buttons = planCard(plan.name).getByRole("button");
        const other = plan.key === "starter" ? "Change to annual billing" : `Change to ${plan.name}`;
        await buttons.first().waitFor();
        expect(await buttons.allTextContents(), plan.name).toEqual([current ? "Current Plan" : other]);
        expect(await buttons.isDisabled()).toBe(current);
      }
    }
  });

  it.runIf(full)("tells a subscriber who has cancelled, or has an unpaid invoice, when there are credits again", async () => {
    api.answer(check, { ...starter, cancel_at_period_end: true });
    await open("/pricing", { member: true });
    await page.getByText(`You have 300 credits. Your plan ends on ${end};`).waitFor();
    api.answer(check, { ...starter, status: "past_due" });
    await page.reload();
    await page.getByText(/^You have 300 credits\. New credits come once the unpaid invoice is paid/).waitFor();
  });

  it("says that the discount could not be checked, and shows it when it could", async () => {
    api.refuse("POST /api/functions/check-discount-eligibility", 503, "service_unavailable");
    await open("/pricing");
    await says("Failed to check discount eligibility");
    // A campaign that leaves a plan out says nothing of all of them, and nothing of that one.
    const { pricing } = discountOf(20);
    const partial = { discountEligible: true, pricing: { ...pricing, enterprise: discountOf(0).pricing.enterprise } };
    api.answer("POST /api/functions/check-discount-eligibility", partial);
    await page.getByRole("button", { name: common.retry }).click();
    const { discountedPrice, originalPrice, savings } = pricing.starter;
    const money = (cents: number) => formatMoney(cents, "en");
    const [discounted, saved, before] = [money(discountedPrice), money(savings), money(originalPrice)];
    await planCard("Starter").getByText(`You save ${saved} (20%) on the first period, then ${before} a month.`).waitFor();
    expect(await planCard("Starter").getByText(discounted, { exact: true }).count()).toBe(1);
    expect(await planCard("Enterprise").getByText("You save").count()).toBe(0);
    expect(await page.getByText(/off your first period/).count()).toBe(0);
    expect(await page.getByText("Failed to check discount eligibility").count()).toBe(0);
    api.answer("POST /api/functions/check-discount-eligibility", discountOf(20));
    await page.reload();
    await page.getByText(/^20% off your first period/).waitFor();
  });
});

describe("the models (specification §2, §4, §5)", () => {
  const list = () => page.getByRole("list", { name: "Models", exact: true });

  it("are filtered by kind", async () => {
    await open("/ai-models");
    for (const category of [...modelCategories, "all"] as const) {
      const name = category === "all" ? "All" : common.model.category[category];
      await page.getByRole("radio", { name, exact: true }).check();
      const expected = models.filter((model) => category === "all" || model.category === category);
      await expect
        .poll(() => list().getByRole("listitem").allTextContents(), { message: category })
        .toEqual(expected.map((model) => expect.stringMatching(new RegExp(`^${model.name.replaceAll(".", "\\.")}`))));
    }
  });

  it.runIf(full)("are locked for a person without a plan, who gets a link to the plans", async () => {
    await open("/ai-models", { member: true });
    await says("The models open with a plan");
    expect(await page.getByRole("main").getByRole("link", { name: "View plans" }).getAttribute("href")).toBe("/pricing");
    expect(await list().getByRole("listitem").count()).toBe(models.length);
    expect(await list().getByRole("button").count()).toBe(0);
    expect(await page.getByLabel("Your prompt").count()).toBe(0);
  });

  it("get no prompt of only spaces, and a prompt without the spaces around it", async () => {
    api.answer(check, starter);
    await open("/ai-models", { member: true });
    const prompt = page.getByLabel("Your prompt");
    const send = page.getByRole("button", { name: "Send", exact: true });
    await prompt.fill(" \n\u00a0\t ");
    await prompt.press("Enter");
    expect(await send.isDisabled()).toBe(true);
    await prompt.fill(" Hello ");
    await prompt.press("Enter");
    await expect.poll(() => api.calls("POST /api/generations").map(({ body }) => body)).toMatchObject([{ prompt: "Hello" }]);
  });
});

describe("a prompt refused for lack of credits", () => {
  it("shows the refusal on a phone where nothing covers it, with the support button below", async () => {
    api.answer(check, { ...starter, next_credits_at: starter.subscription_end });
    api.refuse("POST /api/generations", 402, "insufficient_credits", { needed: 1, available: 0 });
    await open("/ai-models", { member: true, viewport: { width: 390, height: 844 } });
    await page.getByLabel("Your prompt").fill("One more");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    const refusal = page.getByRole("alert").filter({ hasText: "Not enough credits" });
    await refusal.waitFor();
    await page.getByText("This answer costs 1 credit · 0 available").waitFor();
    const support = page.getByRole("button", { name: /support/i }).last();
    const gap = async () => {
      const [refused, button] = [await refusal.boundingBox(), await support.boundingBox()];
      return refused && button ? button.y - refused.y - refused.height : undefined;
    };
    await expect.poll(gap).toBeGreaterThan(0);
  });
});

/** Measures the layout shift so far (CLS). It is text because the project's Node types have no DOM. */
const watchShifts = `
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
`;

describe("content that loads late", () => {
  const screens = [
    [390, 844],
    [1440, 900],
  ] as const;
  const late = [
    ["/", starter, "Starter Plan"],
    ["/profile", starter, "Starter Plan"],
    ["/offline", starter, "Room on this device"],
    ["/ai-models", starter, "What are you working on?"],
    ["/ai-models", noPlan, "The models open with a plan"],
  ] as const;
  // The narrow layout moves more: `npm test` has that one, `npm run test:full` both.
  it.each(full ? screens : screens.slice(0, 1))(
    "has its space reserved from the first frame, at %i × %i",
    async (width, height) => {
      for (const [address, plan, arrived] of daily(late, 2)) {
        api.answer(check, plan);
        ({ page } = await openPage(site, { viewport: { width, height }, session: sessionOf(), fresh: true }));
        await page.addInitScript(watchShifts);
        // Otherwise /offline waits 20 s for the worker that this device blocks.
        await page.addInitScript("delete Navigator.prototype.serviceWorker");
        await page.goto(site.address + address);
        await page.getByText(arrived, { exact: true }).filter({ visible: true }).first().waitFor();
        await page.waitForLoadState("networkidle");
        expect(await page.evaluate<number>("window.shift"), address).toBeLessThanOrEqual(0.02);
      }
    },
    60_000,
  );
});

describe("what is saved for offline", () => {
  it("is being looked for, and where the browser refuses the service worker it says at once that nothing is", async () => {
    const released = Promise.withResolvers<void>();
    ({ page } = await openPage(site, { fresh: true }));
    // What registers the service worker comes when the test has seen the page wait for it.
    await page.route(/\/assets\/bridge-/, (route) => released.promise.then(() => route.continue()));
    await page.goto(`${site.address}/offline`);
    await page.getByRole("main").getByText(common.loading).waitFor();
    released.resolve();
    await page.getByText(offline.unsupported).waitFor();
    await page.getByText(offline.room.heading).waitFor();
  });
});

describe("the wallet and its history", () => {
  const grant = {
    id: "0198c0de-0000-7000-8000-000000000001",
    kind: "plan",
    credits: 300,
    remaining: 299,
    held: 0,
    expiresAt: "2026-04-11T09:30:00.000Z",
    createdAt: "2026-03-10T09:30:00.000Z",
  } as const;
  const wallet = { balance: 299, held: 0, available: 299, frozen: false, grants: [grant], serverTime: "2026-03-10T10:00:00.000Z" };
  const panel = () => page.getByRole("region", { name: "Wallet", exact: true });

  it("show first the credits left, a link to the chat, and when more come", async () => {
    api.answer(check, { ...starter, next_credits_at: starter.subscription_end });
    api.answer("GET /api/credits/wallet", wallet);
    await open("/profile", { member: true });
    await panel().getByText("299", { exact: true }).waitFor();
    expect(await panel().getByRole("link", { name: "Chat", exact: true }).getAttribute("href")).toBe("/ai-models");
    await panel()
      .getByText(`Next: 300 credits on ${formatDate(starter.subscription_end ?? "", "en")}.`, { exact: true })
      .waitFor();
    await panel()
      .getByText(/^until the next credits arrive/)
      .waitFor();
  });

  it("number the grants in the order of spending, and say of those that are locked without a plan that they are not lost", async () => {
    const ids = ["0198c0de-0000-7000-8000-000000000002", "0198c0de-0000-7000-8000-000000000003"] as const;
    const trial = { ...grant, id: ids[0], kind: "trial", credits: 50, remaining: 13, expiresAt: "2026-03-15T00:00:00.000Z" } as const;
    const pack = { ...grant, id: ids[1], kind: "pack", credits: 250, remaining: 190, expiresAt: "2026-03-12T00:00:00.000Z" } as const;
    const adjustment = { ...grant, kind: "adjustment", credits: 20, remaining: 20, held: 5 } as const;
    const grants = [pack, trial, adjustment];
    api.answer("GET /api/credits/wallet", { ...wallet, balance: 223, held: 5, available: 28, grants });
    const items = async () => {
      await panel().getByRole("listitem").first().waitFor();
      return panel().getByRole("listitem").allTextContents();
    };
    api.answer(check, noPlan);
    await open("/profile", { member: true });
    const [first, second, third] = await items();
    expect(first).toMatch(/^1Free trial13 of 50 left.*for small text models$/);
    expect(second).toMatch(/^2Adjustment20 of 20 left5 held for answers/);
    expect(third).toMatch(/^Pack190 of 250 left.*not lost: locked without a plan$/);
    api.answer(check, starter);
    await open("/profile", { member: true });
    expect((await items()).map((text) => text.slice(0, 6))).toEqual(["1Pack1", "2Free ", "3Adjus"]);
  });

  it("promise no further credits if the subscription ends, with which its credits expire", async () => {
    api.answer(check, { ...starter, cancel_at_period_end: true });
    api.answer("GET /api/credits/wallet", wallet);
    await open("/profile", { member: true });
    const end = formatDate(starter.subscription_end ?? "", "en");
    await panel().getByText(`Your subscription ends on ${end}. No more credits come after that.`, { exact: true }).waitFor();
    await panel().getByText(`until ${end}`, { exact: true }).waitFor();
    expect(
      await panel()
        .getByText(/next credits/)
        .count(),
    ).toBe(0);
  });

  it("are grouped by day, and each line links to its conversation while that exists", async () => {
    api.answer(check, starter);
    api.answer("GET /api/credits/wallet", wallet);
    const conversationId = "0198c0de-0000-7000-8000-00000000000c";
    const unsold = { grantId: null, grantKind: null, grantFor: null, invoice: null, reason: null };
    const none = { ...unsold, modelId: null, conversationId: null, conversationTitle: null };
    const line = { ...none, kind: "capture", credits: -1, modelId: "gpt-5-mini" } as const;
    api.answer("GET /api/credits/ledger", {
      lines: [
        { ...line, id: "0198c0de-0000-7000-8000-000000000013", balanceAfter: 298, occurredAt: "2026-03-11T12:00:00.000Z", conversationId },
        {
          ...line,
          id: "0198c0de-0000-7000-8000-000000000012",
          balanceAfter: 299,
          occurredAt: "2026-03-10T12:00:00.000Z",
          conversationId: null,
        },
        {
          ...{ ...none, id: "0198c0de-0000-7000-8000-000000000011", kind: "grant", credits: 300, grantKind: "plan" },
          ...{ balanceAfter: 300, occurredAt: "2026-03-10T11:30:00.000Z" },
        },
      ],
      nextCursor: null,
      readTo: null,
    });
    await open("/profile", { member: true });
    const history = page.getByRole("region", { name: "History", exact: true });
    await history.waitFor();
    expect(await history.getByRole("heading", { level: 3 }).allTextContents()).toEqual(["March 11, 2026", "March 10, 2026"]);
    expect(await history.getByRole("listitem").count()).toBe(3);
    const links = history.getByRole("link");
    expect(await links.allTextContents()).toEqual(["Explain this balance", "Answer by GPT-5 Mini", "The whole history"]);
    expect(await links.last().getAttribute("href")).toBe("/profile/usage");
    expect(await links.first().getAttribute("href")).toBe("/profile/usage#balance");
    expect(await links.nth(1).getAttribute("href")).toBe(`/ai-models?conversation=${conversationId}`);
  });
});

describe("the return from the payment page", () => {
  const back = "POST /api/billing/checkout-return";
  const address = "/profile?checkout=success&session_id=cs_1";
  const heading = (name: string) => page.getByRole("heading", { level: 2, name, exact: true });
  const focused = () => page.evaluate(() => document.activeElement?.textContent);

  it("says that the payment is being checked, never that there is no plan; then shows the plan and a link to the chat", async () => {
    api.answer(back, { state: "waiting", packCredits: null });
    await open(address, { member: true });
    await heading("Checking your payment").waitFor();
    await expect.poll(() => api.calls(check).length).toBeGreaterThan(0);
    expect(await focused()).toBe("Checking your payment");
    api.answer(back, { state: "paid", packCredits: null });
    api.answer(check, starter);
    // A reload and a second tab show the same, because the address names the payment.
    const second = await page.context().newPage();
    await second.goto(page.url());
    for (const tab of [page, second]) {
      if (tab === page) await tab.reload();
      await tab.getByRole("heading", { level: 2, name: "300 credits are yours" }).waitFor();
      expect(await tab.getByRole("link", { name: "Start chatting" }).getAttribute("href")).toBe("/ai-models");
      expect(await tab.evaluate(() => document.activeElement?.textContent)).toBe("300 credits are yours");
    }
    expect(await page.getByText("No plan yet").count()).toBe(0);
  });

  it("takes a running trial for no plan: the payment is still being checked, until the plan is there", async () => {
    const ends = { subscription_end: starter.subscription_end, trial_end: starter.subscription_end };
    api.answer(check, { ...noPlan, ...ends, subscribed: true, plan_name: "Free Trial", credits: 49 });
    api.answer(back, { state: "waiting", packCredits: null });
    await open(address, { member: true });
    await expect.poll(() => api.calls(check).length).toBeGreaterThan(0);
    await heading("Checking your payment").waitFor();
    expect(await page.getByText("are yours").count()).toBe(0);
    api.answer(back, { state: "paid", packCredits: null });
    api.answer(check, { ...starter, credits: 349, trial_end: ends.trial_end });
    await page.reload();
    await heading("300 credits are yours").waitFor();
  });

  it("says when the payment takes longer, and checks again on request", async () => {
    api.refuse(back, 503, "service_unavailable");
    await open(address, { member: true });
    await heading("Your payment has not reached us yet").waitFor();
    expect(await page.getByText("No plan yet").count()).toBe(0);
    api.answer(back, { state: "paid", packCredits: null });
    api.answer(check, starter);
    const again = page.getByRole("button", { name: "Check again" });
    await again.focus();
    await again.press("Enter");
    await heading("300 credits are yours").waitFor();
    await expect.poll(focused).toBe("300 credits are yours");
    await expect.poll(() => fact("Current plan").textContent()).toBe("Starter Plan");
  });

  it.runIf(full)("offers the plans again if the checkout expired, and says nothing if there is no payment to wait for", async () => {
    api.answer(back, { state: "expired", packCredits: null });
    await open(address, { member: true });
    await heading("This payment was not completed").waitFor();
    expect(await page.getByRole("main").getByRole("link", { name: "View plans" }).getAttribute("href")).toBe("/pricing");
    api.refuse(back, 404, "not_found");
    await open(address, { member: true });
    await says("No plan yet");
    expect(await heading("Checking your payment").count()).toBe(0);
  });

  it.runIf(full)("says that nothing was charged if the checkout was cancelled", async () => {
    await open("/pricing?checkout=cancelled", { member: true });
    await page.getByRole("status").getByText("Nothing was charged", { exact: true }).waitFor();
    expect(await planCard("Starter").getByRole("button", { name: "Subscribe to Starter" }).isEnabled()).toBe(true);
  });
});

describe("the profile (specification §2, §4, §8)", () => {
  const portal = "POST /api/billing/portal";

  it.runIf(full)("names an annual plan's price of the year, and says of a plan that is over when it ended", async () => {
    api.answer(check, { ...starter, billing_interval: "year" });
    await open("/profile", { member: true });
    await expect.poll(() => fact("Price").textContent()).toContain(`${formatMoney(priceCents(plans.starter, "year"), "en")} a year`);
    api.answer(check, { ...noPlan, status: "canceled", subscription_end: starter.subscription_end });
    await page.reload();
    await says(`Your plan ended on ${formatDate(starter.subscription_end ?? "", "en")}`);
    expect(await page.getByText("No plan yet").count()).toBe(0);
  });

  it("says that the subscription is being checked, then shows it; Refresh does the same, bypassing every cache", async () => {
    const walletOf = (balance: number) => ({
      balance,
      held: 0,
      available: balance,
      frozen: false,
      grants: [],
      serverTime: starter.server_time,
    });
    api.answer(check, starter);
    // The page shows what it has heard last, of the check or of the wallet.
    api.answer("GET /api/credits/wallet", walletOf(starter.credits));
    let release = api.hold(check);
    await open("/profile", { member: true });
    await says("Checking your subscription");
    release();
    await expect.poll(() => fact("Current plan").textContent()).toBe("Starter Plan");
    expect(await fact("Available credits").textContent()).toBe("300 plenty");
    expect(await fact("Status").textContent()).toBe("Active");
    expect(await fact("Next billing date").textContent()).toBe(formatDate(starter.subscription_end ?? "", "en"));
    expect(await fact("Monthly credits").textContent()).toBe("300 credits");
    expect(await fact("Time left").textContent()).toBe("21 days");
    expect(await fact("Price").textContent()).toContain("$19.99 a month");
    release = api.hold(check);
    api.answer(check, { ...starter, credits: 12 });
    api.answer("GET /api/credits/wallet", walletOf(12));
    await page.getByRole("button", { name: "Refresh", exact: true }).click();
    await page.getByRole("button", { name: "Refreshing your subscription" }).waitFor();
    release();
    await expect.poll(() => fact("Available credits").textContent()).toBe("12 nearly out");
    expect(api.calls(check).at(-1)?.headers).toMatchObject({ "cache-control": "no-cache", pragma: "no-cache" });
  });

  it("says that the subscription failed to load, and why, or shows the last known one and its age", async () => {
    api.refuse(check, 503, "service_unavailable");
    await open("/profile", { member: true });
    await says("Failed to load subscription");
    await says("Subscription verification temporarily unavailable - please refresh");
    api.answer(check, starter);
    await page.getByRole("button", { name: "Refresh", exact: true }).click();
    await expect.poll(() => fact("Current plan").textContent()).toBe("Starter Plan");
    expect(await page.getByText("Failed to load subscription").count()).toBe(0);
    api.refuse(check, 503, "service_unavailable");
    await page.getByRole("button", { name: "Refresh", exact: true }).click();
    await says("Failed to load subscription");
    await page.getByText(/^Shown as it was .+\. It could not be checked since\.$/).waitFor();
    expect(await fact("Current plan").textContent()).toBe("Starter Plan");
  });

  it.runIf(full)("says that it opens the payment portal, or that this failed", async () => {
    api.answer(check, starter);
    api.refuse(portal, 502, "payment_provider_unavailable");
    await open("/profile", { member: true });
    const manage = page.getByRole("button", { name: "Manage subscription" });
    await manage.click();
    await says("Failed to open portal");
    await says(refusals.payment_provider_unavailable);
    api.answer(portal, { url: `${site.address}/terms` });
    const release = api.hold(portal);
    await manage.click();
    await page.getByRole("button", { name: "Redirecting to payment" }).waitFor();
    release();
    await page.waitForURL("**/terms");
  });

  it("says that a payment failed and how long access lasts, and links to the portal to pay", async () => {
    const until = "2026-03-17T09:00:00.000Z";
    const unpaid = { invoiceId: "019a0000-0000-7000-8000-000000000001", amountCents: 1999, until, needsAction: false, processing: false };
    api.answer(check, { ...starter, status: "past_due", unpaid });
    api.answer(portal, { url: `${site.address}/terms` });
    await open("/profile", { member: true });
    await says(billing.subscription.paymentFailedText.replace("{{date}}", formatDate(until, "en")));
    expect(await fact("Ends on").textContent()).toBe(formatDate(until, "en"));
    expect(await fact("Time left").textContent()).toBe("6 days");
    // The payment has failed, but we do not have the invoice yet.
    api.answer(check, { ...starter, status: "past_due" });
    await page.reload();
    await says("Payment failed");
    await page.getByRole("button", { name: "Update payment" }).click();
    await page.waitForURL("**/terms");
  });

  it("shows the account's address as verified, since when it exists, and the last sign-in", async () => {
    await open("/profile", { member: true });
    await says("Verified");
    expect(await page.getByRole("main").getByText(account.email).isVisible()).toBe(true);
    expect(await fact("User ID").textContent()).toBe(account.id);
    expect(await fact("Member since").textContent()).toBe(formatDate(account.createdAt, "en"));
    expect(await fact("Last sign in").textContent()).toBe(formatDateTime(account.lastSignInAt ?? "", "en"));
    api.refuse("GET /api/account", 503, "service_unavailable");
    await page.reload();
    await says("Your account details could not be read.");
    api.answer("GET /api/account", { ...account, lastSignInAt: null });
    await page.getByRole("button", { name: common.retry }).click();
    await expect.poll(() => fact("Last sign in").textContent()).toBe("Not recorded");
  });

  it.runIf(full)("says if the server could not be reached at sign-out, which is done on this device anyway", async () => {
    api.refuse("POST /api/auth/sign-out", 503, "service_unavailable");
    await open("/profile", { member: true });
    await page.getByRole("button", { name: "Sign out" }).click();
    await toasts().getByText("You are signed out on this device", { exact: true }).waitFor();
    await page.getByRole("banner").getByRole("link", { name: "Sign in" }).waitFor();
    expect(await page.evaluate(() => localStorage.getItem("session"))).toBeNull();
  });

  it.runIf(full)(
    "warns on the home page by the share of the month's credits, beside the specification's label for the amount",
    async () => {
      for (const [credits, level, tone] of [
        [300, "low", "good"],
        [75, "very low", "warning"],
        [15, "very low", "danger"],
      ] as const) {
        api.answer(check, { ...starter, credits });
        await open("/", { member: true });
        const badge = page.locator("main summary").getByText(level, { exact: true });
        await badge.waitFor();
        expect(await badge.getAttribute("class"), `${credits} of 300`).toContain(tone);
      }
    },
  );

  it.runIf(full)("names the plan in the reader's language, as the summary on the home page does", async () => {
    api.answer(check, starter);
    await open("/profile", { member: true, locale: "de-DE" });
    await expect.poll(() => fact("Aktueller Tarif").textContent()).toBe("Tarif Starter");
    await page.goto(site.address);
    await page.locator("main summary").getByText("Tarif Starter", { exact: true }).waitFor();
  });
});

describe("the frame (specification §2, §8)", () => {
  const adminLink = () => page.getByRole("banner").locator('a[href="/admin"]');

  it("does not treat a person as admin if the check fails, and logs that", async () => {
    api.answer("POST /api/functions/verify-admin", { isAdmin: true, team: "admin" });
    await open("/about", { member: true });
    await adminLink().waitFor();
    api.refuse("POST /api/functions/verify-admin", 500, "unexpected");
    const logged = page.waitForEvent("console", (message) => message.text().includes("Could not check whether this account is an admin"));
    await page.reload();
    await logged;
    await page.getByRole("banner").locator('a[href="/profile"]').waitFor();
    expect(await adminLink().count()).toBe(0);
  });

  it.runIf(full)("shows a person's picture, or the first two letters of their address if there is none", async () => {
    await open("/about", { member: true, avatar: "/icons/icon-192.png" });
    const face = () => page.getByRole("banner").locator('a[href="/profile"]');
    await expect
      .poll(() =>
        face()
          .locator("img")
          .evaluate((image) => (image as HTMLImageElement).naturalWidth),
      )
      .toBe(192);
    expect(await face().textContent()).not.toContain("MA");
    await open("/about", { member: true });
    await face().waitFor();
    expect(await face().textContent()).toContain("MA");
    expect(await face().locator("img").count()).toBe(0);
  });

  it("shows a spinner for a loading page after 200 ms, and not before", async () => {
    await open("/about", { fresh: true });
    const chunk = Promise.withResolvers<void>();
    await page.route(/\/assets\/contact-.*\.js$/, (route) => chunk.promise.then(() => route.continue()));
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.getByRole("contentinfo").getByRole("link", { name: "Contact" }).click();
    await page.waitForURL("**/contact");
    const spinner = page.getByRole("status").filter({ hasText: common.loading });
    await page.clock.runFor(150);
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(0);
    expect(await spinner.count()).toBe(0);
    await page.clock.runFor(100);
    await spinner.waitFor();
    chunk.resolve();
    await page.clock.resume();
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await spinner.count()).toBe(0);
  });
});

describe("forms (specification §4, §5, §8)", () => {
  it.runIf(full)("mark terms and privacy, but not cookies, with an asterisk that the detailed view explains", async () => {
    await open("/about");
    await page.getByRole("button", { name: "Manage preferences" }).click();
    const boxes = page.locator("[data-consent=detailed] label");
    expect(await boxes.allTextContents()).toEqual(["Terms of service *", "Privacy policy *", "Usage statistics"]);
    await says("* required to save");
  });

  it.runIf(full)("say that feedback is being sent, and send it once", async () => {
    const send = "POST /api/functions/send-contact-email";
    api.answer(send, { id: account.id });
    const release = api.hold(send);
    ({ page } = await openPage(site, { fresh: true }));
    await openWithCard(page, `${site.address}/about`);
    await page.getByRole("button", { name: "Give Feedback" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Maria");
    await dialog.getByLabel("Email").fill(account.email);
    await dialog.getByLabel("Feedback").fill("Tiles.");
    await dialog.getByRole("button", { name: "Send Feedback" }).click();
    const sending = dialog.getByRole("button", { name: "Sending", exact: true });
    await sending.waitFor();
    await sending.click({ force: true });
    release();
    await toasts().getByText("Feedback Sent!", { exact: true }).waitFor();
    expect(api.calls(send)).toHaveLength(1);
  });

  it.runIf(full)("say that a message to the team is being sent, and send it once", async () => {
    const send = "POST /api/contact";
    api.answer(send, { id: account.id });
    const release = api.hold(send);
    await open("/contact");
    const form = page.locator("main form");
    await form.getByLabel("Name").fill("Maria");
    await form.getByLabel("Email").fill(account.email);
    await form.getByLabel("Message").fill("Tiles.");
    await form.getByRole("button", { name: "Send message" }).click();
    const sending = form.getByRole("button", { name: "Sending", exact: true });
    await sending.waitFor();
    await sending.click({ force: true });
    release();
    await page.getByRole("heading", { name: "Message sent" }).waitFor();
    expect(api.calls(send)).toHaveLength(1);
  });

  const submit = (name: string) => page.locator("main form").getByRole("button", { name, exact: true }).click();
  const faults = () => page.locator("main form [id$='-error']").filter({ hasText: /./ }).allTextContents();
  async function fill(password: string, email = account.email): Promise<void> {
    await page.getByLabel("Email", { exact: true }).fill(email);
    await page.getByRole("textbox", { name: "Password" }).fill(password);
  }

  it("say at sign-in what is missing, wrong, tried too often or unreachable, and help with an unconfirmed address", async () => {
    const signIn = "POST /api/auth/sign-in";
    await open("/auth");
    await submit("Sign in");
    await expect.poll(faults).toEqual(["Invalid email address", "Enter your password"]);
    expect(api.calls(signIn)).toEqual([]);
    await fill("wrong password 1");
    api.refuse(signIn, 401, "invalid_credentials");
    await submit("Sign in");
    await says(errors.invalid_credentials);
    api.refuse(signIn, 429, "too_many_attempts", { retryAfterSeconds: 5 });
    await submit("Sign in");
    // The wait counts down visibly; screen readers hear its start and its end only.
    const alert = page.locator("main form [role=alert]");
    await expect.poll(() => alert.ariaSnapshot()).toContain("Too many attempts. Wait 5 seconds and try again.");
    const button = page.locator("main form button[type=submit]");
    await expect.poll(() => button.textContent()).toMatch(/^Try again in [1-4] seconds?$/);
    await expect.poll(() => alert.locator("[aria-hidden=true]", { hasText: /Wait [1-4] seconds? / }).count()).toBe(1);
    expect(await alert.ariaSnapshot()).toContain("Wait 5 seconds");
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
    const asked = api.calls(signIn).length;
    await button.click({ force: true });
    await says("You can try again now.");
    expect(api.calls(signIn)).toHaveLength(asked);
    await page.route("**/api/auth/sign-in", (route) => route.abort());
    await submit("Sign in");
    await says(errors.network);
    await page.unroute("**/api/auth/sign-in");
    // Who signs in before confirming can have the link sent again at once.
    api.refuse(signIn, 403, "email_not_confirmed");
    api.answer("POST /api/auth/resend-confirmation", { status: "check_email" });
    await submit("Sign in");
    await page.getByRole("heading", { name: "Check your email" }).waitFor();
    expect(await page.getByText("is not confirmed yet").textContent()).toContain(`${account.email} is not confirmed yet.`);
    await page.getByRole("button", { name: "Send it again", exact: true }).click();
    await says("Sent again. The newest link is the one that works.");
    expect(api.calls("POST /api/auth/resend-confirmation")).toHaveLength(1);
  });

  it("say where the link for a new password went, whether the link still works, and what happened to the password", async () => {
    const reset = "POST /api/auth/reset-password";
    api.answer("POST /api/auth/recover", { status: "check_email" });
    await open("/auth?mode=recover");
    await submit("Send the link");
    await expect.poll(faults).toEqual(["Invalid email address"]);
    await page.getByLabel("Email", { exact: true }).fill(account.email);
    await submit("Send the link");
    await page.getByRole("heading", { name: "Check your email" }).waitFor();
    expect(await page.getByText("a link is on its way").textContent()).toContain(`If ${account.email} has an account`);
    // A mail needs a moment: the next one can't be asked for at once.
    await page.getByRole("button", { name: /^Send it again in \d+ seconds$/ }).waitFor();
    expect(api.calls("POST /api/auth/recover")).toHaveLength(1);

    api.refuse("POST /api/auth/recovery-link", 400, "link_invalid");
    await open("/auth?recover=a.token");
    await page.getByRole("heading", { name: "This link no longer works" }).waitFor();
    expect(await page.getByRole("link", { name: "Send a new link" }).getAttribute("href")).toBe("/auth?mode=recover");
    api.answer("POST /api/auth/recovery-link", { email: account.email });
    await open("/auth?recover=a.token");
    expect(new URL(page.url()).search).toBe("");
    const secret = () => page.getByRole("textbox", { name: "New password" });
    await secret().fill(account.email);
    await submit("Save the password");
    await expect.poll(faults).toEqual(["Password must contain at least one letter and one number"]);
    await secret().fill("tiles in the password 1");
    api.refuse(reset, 422, "validation_failed", { fields: [{ field: "password", message: ruleMessages.passwordCommon }] });
    await submit("Save the password");
    await expect.poll(faults).toEqual(["This password is too common. Choose another one"]);
    api.refuse(reset, 429, "too_many_attempts", { retryAfterSeconds: 60 });
    await submit("Save the password");
    await expect.poll(() => page.locator("main form button[type=submit]").textContent()).toMatch(/^Try again in \d+ seconds$/);
    await open("/auth?recover=a.token");
    await secret().fill("tiles in the password 1");
    api.answer(reset, { session: null });
    await submit("Save the password");
    await page.getByRole("heading", { name: "Your password is changed" }).waitFor();
    await page.getByRole("link", { name: "Go to sign in" }).click();
    expect(await page.getByLabel("Email", { exact: true }).inputValue()).toBe(account.email);
  });

  it("say at the account's password which one is wrong or breaks a rule, and that everybody else is signed out", async () => {
    const change = "POST /api/account/password";
    api.answer("GET /api/account/ways-in", { password: true, google: null, passkeys: 0 });
    await open("/profile/security", { member: true });
    await page.getByRole("button", { name: "Change password", exact: true }).click();
    const current = () => page.getByRole("textbox", { name: "Current password" });
    const chosen = () => page.getByRole("textbox", { name: "New password" });
    await submit("Change password");
    await expect.poll(faults).toEqual(["Enter your password", "Password must be at least 8 characters"]);
    await current().fill("wrong password 1");
    await chosen().fill("tiles in the password 1");
    api.refuse(change, 403, "wrong_password");
    await submit("Change password");
    await expect.poll(faults).toEqual([refusals.wrong_password]);
    expect(await current().evaluate((element) => element === document.activeElement)).toBe(true);
    api.refuse(change, 400, "validation_failed", { fields: [{ field: "password", message: ruleMessages.passwordCommon }] });
    await submit("Change password");
    await expect.poll(faults).toEqual(["This password is too common. Choose another one"]);
    api.answer(change, null);
    await submit("Change password");
    await toasts().getByText("Your password is changed", { exact: true }).waitFor();
    expect(await current().count()).toBe(0);
  });

  it("say at sign-up which rule a password breaks, at the field, whether the client or the server finds it", async () => {
    const signUp = "POST /api/auth/sign-up";
    await open("/auth?mode=sign-up");
    await fill("short1", "nobody");
    await submit("Create account");
    await expect.poll(faults).toEqual(["Invalid email address", "Password must be at least 8 characters"]);
    // A corrected field shows no error until the next attempt.
    await fill("onlyletters");
    await expect.poll(faults).toEqual([]);
    await submit("Create account");
    await expect.poll(faults).toEqual(["Password must contain at least one letter and one number"]);
    expect(api.calls(signUp)).toEqual([]);
    await fill("tiles in the password 1");
    api.refuse(signUp, 422, "validation_failed", { fields: [{ field: "password", message: ruleMessages.passwordCommon }] });
    await submit("Create account");
    await expect.poll(faults).toEqual(["This password is too common. Choose another one"]);
    await says(errors.validation_failed);
    api.answer(signUp, { status: "check_email" });
    await submit("Create account");
    await page.getByRole("heading", { name: "Check your email" }).waitFor();
  });
});
