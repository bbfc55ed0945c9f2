/** Every state a page can be in that no happy path comes through: waiting, refused, failed, not allowed (spec §2, §4, §5, §8). */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import billing from "#client/i18n/locales/en/billing.json" with { type: "json" };
import common from "#client/i18n/locales/en/common.json" with { type: "json" };
import errors from "#client/i18n/locales/en/errors.json" with { type: "json" };
import { formatDate, formatDateTime, formatMoney } from "#client/lib/format.ts";
import { modelCategories, models } from "#domain/models.ts";
import { graceDays, planList, priceCents } from "#domain/plans.ts";
import { ruleMessages } from "#domain/rules.ts";
import { openWithCard } from "#tests/e2e/forms-support.ts";
import type { Site } from "./frame-support.ts";
import { openPage, openSite } from "./frame-support.ts";
import { account, discountOf, open as openOn, StubbedApi, starter } from "./states-support.ts";

const api = new StubbedApi();
let site: Site;
let page: Page;
beforeAll(async () => {
  site = await openSite((app) => api.addTo(app));
}, 120_000);
afterAll(() => site?.close());
beforeEach(() => api.reset());
afterEach(() => page?.context().close());

async function open(...[path, options]: [path: string, options?: Parameters<typeof openOn>[2]]): Promise<void> {
  page = await openOn(site, path, options);
}

const check = "POST /api/functions/reliable-subscription-check";
const checkout = "POST /api/functions/create-checkout";
const planCard = (name: string) => page.getByRole("listitem", { name, exact: true });
const toasts = () => page.getByRole("region", { name: common.notifications });
const says = (text: string) => page.getByText(text, { exact: true }).waitFor();

/** What a list of facts says under a name. */
const fact = (name: string) => page.locator("dl > div", { has: page.getByText(name, { exact: true }) }).locator("dd");

describe("subscribing (spec §2, §4, §8)", () => {
  it("shows each plan's price by the month, and by the year once that is chosen", async () => {
    await open("/pricing");
    for (const interval of ["month", "year", "month"] as const) {
      await page.getByRole("radio", { name: interval === "month" ? "Monthly" : /^Annual/ }).check();
      for (const plan of planList) {
        const price = planCard(plan.name).getByText(formatMoney(priceCents(plan, interval), "en"), { exact: true });
        await expect.poll(() => price.isVisible(), { message: `${plan.name} by the ${interval}` }).toBe(true);
      }
    }
  });

  it("asks whoever is signed out to sign in first, and brings them back", async () => {
    await open("/pricing");
    await page.getByRole("button", { name: "Subscribe to Basic" }).click();
    await toasts().getByText("Authentication Required", { exact: true }).waitFor();
    await toasts().getByText("Please sign in to subscribe to a plan.", { exact: true }).waitFor();
    await page.waitForURL("**/auth?return=%2Fpricing");
    expect(api.calls(checkout)).toEqual([]);
  });

  it("shows a processing label while checkout is created, asks once, and goes to the payment", async () => {
    api.answer(checkout, { url: `${site.address}/terms` });
    const release = api.hold(checkout);
    await open("/pricing", { member: true });
    await page.getByRole("button", { name: "Subscribe to Basic" }).click();
    const busy = planCard("Basic").getByRole("button", { name: "Processing…" });
    await busy.waitFor();
    await busy.click({ force: true });
    await page.getByRole("button", { name: "Subscribe to Starter" }).click();
    expect(api.calls(checkout).map(({ body }) => body)).toEqual([{ priceId: "basic_month" }]);
    release();
    await page.waitForURL("**/terms");
  });

  it("says why a checkout failed, and offers it again", async () => {
    api.refuse(checkout, 502, "payment_provider_unavailable");
    await open("/pricing", { member: true });
    await page.getByRole("button", { name: "Subscribe to Basic" }).click();
    await toasts().getByText("Subscription Error", { exact: true }).waitFor();
    await toasts().getByText(`Failed to create subscription: ${errors.payment_provider_unavailable}`, { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Subscribe to Basic" }).getAttribute("aria-disabled")).not.toBe("true");
  });

  it("says that no address came, though its texts come later than the answer", async () => {
    api.answer(checkout, { url: "" });
    const texts = Promise.withResolvers<void>();
    page = await openOn(site, "/about", { member: true });
    await page.route(/\/assets\/locale-en-billing-.*\.js$/, (route) => texts.promise.then(() => route.continue()));
    await page.getByRole("contentinfo").getByRole("link", { name: "Pricing" }).click();
    const answered = page.waitForResponse("**/create-checkout");
    await page.getByRole("button", { name: "Subscribe to Basic" }).click();
    await (await answered).finished();
    texts.resolve();
    await toasts().getByText("Failed to create subscription: No checkout URL received", { exact: true }).waitFor();
  });

  it("offers a subscriber no second plan: every card says that changing is not there yet, and where to end theirs", async () => {
    api.answer(check, starter);
    await open("/pricing", { member: true });
    await planCard("Starter").getByRole("button", { name: "Current Plan" }).waitFor();
    for (const interval of ["Monthly", /^Annual/]) {
      await page.getByRole("radio", { name: interval }).check();
      for (const plan of planList) {
        const current = plan.key === "starter" && interval === "Monthly";
        const button = planCard(plan.name).getByRole("button", { name: current ? "Current Plan" : `Subscribe to ${plan.name}` });
        await expect.poll(() => button.isDisabled(), { message: plan.name }).toBe(true);
        expect(
          await planCard(plan.name)
            .getByText(/^Plans can't be changed yet\./)
            .count(),
        ).toBe(current ? 0 : 1);
        expect(await planCard(plan.name).locator('a[href="/profile"]').count()).toBe(current ? 0 : 1);
      }
    }
  });

  it("says that the discount could not be looked up, and shows it once it could", async () => {
    api.refuse("POST /api/functions/check-discount-eligibility", 503, "service_unavailable");
    await open("/pricing");
    await says("Failed to check discount eligibility");
    api.answer("POST /api/functions/check-discount-eligibility", discountOf(20));
    await page.getByRole("button", { name: common.retry }).click();
    await page.getByText(/^20% off your first period/).waitFor();
    const discounted = formatMoney(discountOf(20).pricing.starter.discountedPrice, "en");
    expect(await planCard("Starter").getByText(discounted, { exact: true }).count()).toBe(1);
    expect(await page.getByText("Failed to check discount eligibility").count()).toBe(0);
  });
});

describe("the models (spec §2, §4, §5)", () => {
  const list = () => page.getByRole("list", { name: "Models", exact: true });

  it("are filtered by their kind", async () => {
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

  it("are locked for somebody without a plan, who is shown the way to the plans", async () => {
    await open("/ai-models", { member: true });
    await says("The models open with a plan");
    expect(await page.getByRole("main").getByRole("link", { name: "View plans" }).getAttribute("href")).toBe("/pricing");
    expect(await list().getByRole("listitem").count()).toBe(models.length);
    expect(await list().getByRole("button").count()).toBe(0);
    expect(await page.getByLabel("Your prompt").count()).toBe(0);
  });

  it("are sent nothing while none is chosen, and nothing that is only spaces", async () => {
    api.answer(check, starter);
    await open("/ai-models", { member: true });
    const prompt = page.getByLabel("Your prompt");
    const send = page.getByRole("button", { name: "Send", exact: true });
    await prompt.fill("Hello");
    await says("Model must be selected");
    await prompt.press("Enter");
    expect(await send.isDisabled()).toBe(true);
    await list()
      .getByRole("button", { name: /^GPT-5 Mini/ })
      .click();
    await prompt.fill(" \n\u00a0\t ");
    await prompt.press("Enter");
    expect(await send.isDisabled()).toBe(true);
    await prompt.fill(" Hello ");
    await prompt.press("Enter");
    await expect.poll(() => api.calls("POST /api/generations").map(({ body }) => body)).toMatchObject([{ prompt: "Hello" }]);
  });
});

describe("the profile (spec §2, §4, §8)", () => {
  const portal = "POST /api/billing/portal";

  it("says that it checks the subscription, then what it is; Refresh says so too, asks past every cache and shows what is new", async () => {
    api.answer(check, starter);
    let release = api.hold(check);
    await open("/profile", { member: true });
    await says("Checking your subscription");
    release();
    await expect.poll(() => fact("Current plan").textContent()).toBe("Starter Plan");
    expect(await fact("Available credits").textContent()).toBe("300 (low)");
    release = api.hold(check);
    api.answer(check, { ...starter, credits: 1_200 });
    await page.getByRole("button", { name: "Refresh", exact: true }).click();
    await page.getByRole("button", { name: "Refreshing your subscription" }).waitFor();
    release();
    await expect.poll(() => fact("Available credits").textContent()).toBe("1,200 (excellent)");
    expect(api.calls(check).at(-1)?.headers).toMatchObject({ "cache-control": "no-cache", pragma: "no-cache" });
  });

  it("says that the subscription failed to load: why where nothing is known, otherwise what was known and how old it is", async () => {
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

  it("says that it leaves for the payment, and that the portal failed to open", async () => {
    api.answer(check, starter);
    api.refuse(portal, 502, "payment_provider_unavailable");
    await open("/profile", { member: true });
    const manage = page.getByRole("button", { name: "Manage subscription" });
    await manage.click();
    await says("Failed to open portal");
    await says(errors.payment_provider_unavailable);
    api.answer(portal, { url: `${site.address}/terms` });
    const release = api.hold(portal);
    await manage.click();
    await page.getByRole("button", { name: "Redirecting to payment" }).waitFor();
    release();
    await page.waitForURL("**/terms");
  });

  it("says that a payment failed and for how long access lasts, and leads to where it is put right", async () => {
    api.answer(check, { ...starter, status: "past_due" });
    api.answer(portal, { url: `${site.address}/terms` });
    await open("/profile", { member: true });
    await says("Payment failed");
    await says(billing.subscription.paymentFailedText_other.replace("{{count}}", String(graceDays)));
    await page.getByRole("button", { name: "Update payment" }).click();
    await page.waitForURL("**/terms");
  });

  it("shows whose account it is, whether the address is verified, since when, and the last sign-in", async () => {
    await open("/profile", { member: true });
    await says("Verified");
    expect(await page.getByRole("main").getByText(account.email).isVisible()).toBe(true);
    expect(await fact("User ID").textContent()).toBe(account.id);
    expect(await fact("Member since").textContent()).toBe(formatDate(account.createdAt, "en"));
    expect(await fact("Last sign in").textContent()).toBe(formatDateTime(account.lastSignInAt ?? "", "en"));
    api.refuse("GET /api/account", 503, "service_unavailable");
    await page.reload();
    await says("Your account details could not be read.");
    api.answer("GET /api/account", { ...account, emailVerified: false, lastSignInAt: null });
    await page.getByRole("button", { name: common.retry }).click();
    await says("Not verified");
    expect(await fact("Last sign in").textContent()).toBe("Not recorded");
  });

  it("says that the server could not be told of a sign-out, which holds on this device", async () => {
    api.refuse("POST /api/auth/sign-out", 503, "service_unavailable");
    await open("/profile", { member: true });
    await page.getByRole("button", { name: "Sign out" }).click();
    await toasts().getByText("You are signed out on this device", { exact: true }).waitFor();
    await page.getByRole("banner").getByRole("link", { name: "Sign in" }).waitFor();
    expect(await page.evaluate(() => localStorage.getItem("session"))).toBeNull();
  });

  it("names the plan in the reader's language, as the summary on the home page does", async () => {
    api.answer(check, starter);
    await open("/profile", { member: true, locale: "de-DE" });
    await expect.poll(() => fact("Aktueller Tarif").textContent()).toBe("Tarif Starter");
    await page.goto(site.address);
    await page.locator("main summary").getByText("Tarif Starter", { exact: true }).waitFor();
  });
});

describe("the frame (spec §2, §8)", () => {
  const adminLink = () => page.getByRole("banner").locator('a[href="/admin"]');

  it("treats nobody as an admin whose check failed, and logs it", async () => {
    api.answer("POST /api/functions/verify-admin", { isAdmin: true });
    await open("/about", { member: true });
    await adminLink().waitFor();
    api.refuse("POST /api/functions/verify-admin", 500, "unexpected");
    const logged = page.waitForEvent("console", (message) => message.text().includes("admin's could not be checked"));
    await page.reload();
    await logged;
    await page.getByRole("banner").locator('a[href="/profile"]').waitFor();
    expect(await adminLink().count()).toBe(0);
  });

  it("shows somebody's picture, or the first two letters of their address where there is none", async () => {
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
    await page.context().close();
    await open("/about", { member: true });
    await face().waitFor();
    expect(await face().textContent()).toContain("MA");
    expect(await face().locator("img").count()).toBe(0);
  });

  it("shows a spinner for a page on its way once it takes 200 ms, and none before", async () => {
    await open("/about");
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

describe("forms (spec §4, §5, §8)", () => {
  it("mark terms and privacy with an asterisk, which the consent's detailed view explains, and not cookies", async () => {
    await open("/about");
    await page.getByRole("button", { name: "Manage preferences" }).click();
    const boxes = page.locator("[data-consent=detailed] label");
    expect(await boxes.allTextContents()).toEqual(["Terms of service *", "Privacy policy *", "Cookies"]);
    await says("* required to save");
  });

  it("say that feedback is being sent, and send it once", async () => {
    const send = "POST /api/functions/send-contact-email";
    api.answer(send, { id: account.id });
    const release = api.hold(send);
    ({ page } = await openPage(site));
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

  const submit = (name: string) => page.locator("main form").getByRole("button", { name, exact: true }).click();
  const faults = () => page.locator("main form [id$='-error']").filter({ hasText: /./ }).allTextContents();
  async function fill(password: string, email = account.email): Promise<void> {
    await page.getByLabel("E-mail").fill(email);
    await page.getByRole("textbox", { name: "Password" }).fill(password);
  }

  it("say at signing in what is missing, wrong, too often tried or not reached, and lead on to an unconfirmed address", async () => {
    const signIn = "POST /api/auth/sign-in";
    await open("/auth");
    await submit("Sign in");
    await expect.poll(faults).toEqual(["Invalid email address", "Enter your password"]);
    expect(api.calls(signIn)).toEqual([]);
    await fill("wrong password 1");
    api.refuse(signIn, 401, "invalid_credentials");
    await submit("Sign in");
    await says(errors.invalid_credentials);
    api.refuse(signIn, 429, "too_many_attempts", { retryAfterSeconds: 30 });
    await submit("Sign in");
    await says("Too many attempts. Wait 30 seconds and try again.");
    await page.route("**/api/auth/sign-in", (route) => route.abort());
    await submit("Sign in");
    await says(errors.network);
    await page.unroute("**/api/auth/sign-in");
    api.refuse(signIn, 403, "email_not_confirmed");
    await submit("Sign in");
    await page.getByRole("heading", { name: "Check your e-mail" }).waitFor();
  });

  it("say at signing up which rule a password breaks, at the field, be it found here or by the server", async () => {
    const signUp = "POST /api/auth/sign-up";
    await open("/auth?mode=sign-up");
    await fill("short1", "nobody");
    await submit("Create account");
    await expect.poll(faults).toEqual(["Invalid email address", "Password must be at least 8 characters"]);
    await fill("onlyletters");
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
    await page.getByRole("heading", { name: "Check your e-mail" }).waitFor();
  });
});
