/** The parts around every page that a new visitor sees: the trial's offer, the support widget, links that prefetch. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { formatMoney, formatNumber } from "#client/lib/format.ts";
import { catalogueAsOf, modelsAt, startOf } from "#domain/models.ts";
import { annualPriceCents, moneyBackDays, planList, trialCredits, trialDays } from "#domain/plans.ts";
import { uploadLimits } from "#domain/rules.ts";
import { themes, violationsOn } from "#tests/support/accessibility.ts";
import { full } from "#tests/support/full.ts";
import { hasTurn } from "#tests/support/turns.ts";
import type { Site } from "./frame-support.ts";
import { onSite, openPage, serve, visit } from "./frame-support.ts";

const models = modelsAt(startOf(catalogueAsOf));

let site: Site;
onSite((opened) => {
  site = opened;
});

const wide = { viewport: { width: 1440, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** The stored session of a person who is signed in on this device, as boot.js and the session store read it. */
const session = JSON.stringify({
  access_token: "a",
  refresh_token: "r",
  expires_at: 4_102_444_800,
  expires_in: 600,
  token_type: "bearer",
  user: { id: "u", email: "maria@example.com", user_metadata: { avatar_url: null } },
});

const offer = (page: Page) => page.getByRole("region", { name: "Free trial" });
const supportButton = (page: Page) => page.getByRole("button", { name: "Support", exact: true });
const panel = (page: Page) => page.getByRole("dialog", { name: "Support" });

async function openSupport(page: Page): Promise<void> {
  await supportButton(page).click();
  await panel(page).waitFor();
}

/** Asks the support widget a question and returns its answer; on a page with a fake clock without the wait for it. */
async function answerTo(page: Page, question: string, { moveClock = false } = {}): Promise<string> {
  const answers = panel(page).getByRole("log").locator(":scope > div");
  const before = await answers.count();
  await panel(page).getByRole("textbox").fill(question);
  await page.keyboard.press("Enter");
  const count = async () => {
    if (moveClock) await page.clock.runFor(100);
    return answers.count();
  };
  await expect.poll(count).toBe(before + 1);
  return (await answers.last().textContent()) ?? "";
}

describe("the trial's offer (specification §2)", () => {
  it("shows visitors its figures and links to sign-up; signed-in people never see it, not even before scripts run", async () => {
    const { page } = await openPage(site, wide);
    await visit(page, site.address);
    const text = await offer(page).textContent();
    expect(text).toContain(`Free ${trialDays}-day trial`);
    expect(text).toContain(`${trialCredits} free credits, no credit card, basic models`);
    expect(await offer(page).getByRole("link", { name: "Start Free Trial" }).getAttribute("href")).toBe(
      "/auth?mode=sign-up&return=%2Fpricing",
    );
    await site.devices.takeBack();

    const { page: member } = await openPage(site, { ...wide, session, fresh: true });
    await member.route(/\/assets\/(?!boot-).*\.js$/, (route) => route.abort());
    await member.goto(site.address);
    expect(await offer(member).count()).toBe(0);
    await member.unroute(/\/assets\/(?!boot-).*\.js$/);
    await member.reload();
    await member.locator('header a[href="/profile"]').waitFor();
    expect(await offer(member).count()).toBe(0);
  });

  it.runIf(full)("stays hidden for the visit once it was dismissed, and causes no layout shift with or without it", async () => {
    const { page } = await openPage(site, { ...wide, fresh: true });
    await page.addInitScript(() => {
      const shifts = { sum: 0 };
      Object.assign(window, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shifts.sum += (entry as PerformanceEntry & { value: number }).value;
      }).observe({ type: "layout-shift", buffered: true });
    });
    const shifted = () => page.evaluate(() => (window as unknown as { shifts: { sum: number } }).shifts.sum);
    await visit(page, `${site.address}/pricing`);
    await supportButton(page).waitFor();
    expect(await shifted()).toBeLessThanOrEqual(0.02);
    await page.locator("#banner:not([data-asleep])").waitFor();
    await offer(page).getByRole("button", { name: "Hide this offer" }).click();
    expect(await offer(page).count()).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
    await page.reload();
    await supportButton(page).waitFor();
    expect(await offer(page).count()).toBe(0);
    expect(await shifted()).toBeLessThanOrEqual(0.02);
  });
});

describe("the bar by state (specification §2)", () => {
  it.runIf(full)(
    "shows signed-in people the first two letters of their email address, and a link to their profile in the menu",
    async () => {
      const { page } = await openPage(site, { ...phone, session });
      await visit(page, site.address);
      const account = page.locator('header a[href="/profile"]').first();
      await account.waitFor();
      expect(await account.textContent()).toContain("MA");
      expect(await page.locator('header a[href="/auth"]').count()).toBe(0);
      expect(await page.locator('main a[href="/pricing"]').filter({ hasText: "Get Started" }).count()).toBe(1);
      await page.getByRole("button", { name: "Open menu" }).click();
      const links = page.getByRole("dialog").locator("a");
      const targets = () => links.evaluateAll((all) => all.map((link) => link.getAttribute("href")));
      await expect.poll(targets).toEqual(["/", "/ai-models", "/pricing", "/about", "/contact", "/marketing", "/profile"]);
    },
  );

  it("shows the sign-in link before any script has run, if there is no session", async () => {
    const { page } = await openPage(site, { ...wide, fresh: true });
    await page.route(/\/assets\/(?!boot-).*\.js$/, (route) => route.abort());
    await page.goto(site.address);
    expect(await page.locator('header a[href="/auth"]').isVisible()).toBe(true);
  });

  it.runIf(full)("does not hide while it has the focus or its menu is open", async () => {
    const { page } = await openPage(site, wide);
    await visit(page, site.address);
    const bottom = () => page.evaluate(() => document.querySelector("header")?.getBoundingClientRect().bottom ?? 0);
    await page.getByRole("banner").getByRole("combobox").focus();
    await page.evaluate(() => scrollTo({ top: 700, behavior: "instant" }));
    await page.waitForTimeout(400);
    expect(await bottom()).toBeGreaterThan(0);
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.evaluate(() => scrollTo({ top: 900, behavior: "instant" }));
    await expect.poll(bottom).toBeLessThanOrEqual(0);
  });

  it("fetches a page when the pointer rests on its link or the link gets the focus, and announces the page's name on arrival", async () => {
    const { page } = await openPage(site, wide);
    await visit(page, site.address);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const about = page.getByRole("banner").getByRole("link", { name: "About" });
    // What fetches pages is itself fetched once the page is idle, so the pointer may come too early.
    const restOnLink = async () => {
      await page.mouse.move(0, 0);
      await about.hover();
      return asked.filter((file) => /\/about-.*\.js$/.test(file)).length;
    };
    await expect.poll(restOnLink).toBeGreaterThan(0);
    await page.getByRole("contentinfo").getByRole("link", { name: "Pricing" }).focus();
    await expect.poll(() => asked.filter((file) => /\/pricing-.*\.js$/.test(file)).length).toBeGreaterThan(0);
    await about.click();
    await page.getByRole("heading", { level: 1, name: "Small tiles, one picture" }).waitFor();
    await page.getByRole("status").filter({ hasText: "About · Tessera" }).waitFor({ state: "attached" });
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
  });
});

describe("styles", () => {
  it("of a screen override those of its components, whichever chunk loads first", async () => {
    const { page } = await openPage(site, wide);
    await visit(page, site.address);
    const widths = await page.$$eval("main figure li", (tiles) =>
      tiles.map((tile) => [tile.clientWidth, Math.round(tile.querySelector("svg")?.getBoundingClientRect().width ?? tile.clientWidth)]),
    );
    expect(widths.length).toBe(models.length + 1);
    for (const [place, tile] of widths) expect(Math.abs((place ?? 0) - (tile ?? 0))).toBeLessThanOrEqual(1);
  });
});

describe("the support widget (specification §2)", () => {
  it.runIf(full)(
    "answers questions about every plan and model with the catalogue's figures",
    async () => {
      const { page, complaints } = await openPage(site, { ...wide, fresh: true });
      await page.clock.install();
      const answer = (question: string) => answerTo(page, question, { moveClock: true });
      await visit(page, site.address);
      await openSupport(page);
      for (const plan of planList) {
        const costs = await answer(`What does ${plan.name} cost?`);
        for (const figure of [
          formatMoney(plan.monthlyPriceCents, "en"),
          formatMoney(annualPriceCents(plan), "en"),
          `${formatNumber(plan.monthlyCredits, "en")} credits`,
          `${plan.requestsPerMinute} requests a minute`,
        ]) {
          expect(costs).toContain(figure);
        }
      }
      // One function answers for all of them (support-topics.test.ts).
      for (const model of models.filter((_, index) => full || index % 8 === 0)) {
        const costs = await answer(`How much is ${model.name}?`);
        expect(costs).toContain(`${model.name}, ${model.credits} credit${model.credits === 1 ? "" : "s"} per`);
      }
      expect(await answer("how long is the trial")).toContain(`${trialCredits} credits`);
      expect(await answer("can I get a refund")).toContain(`${moneyBackDays} days`);
      expect(await answer("mp3 upload")).toContain(`${uploadLimits.audioMegabytes} MB (MP3, WAV, and M4A)`);
      const prices = await answer("all prices of the plans");
      for (const plan of planList) expect(prices).toContain(formatMoney(plan.monthlyPriceCents, "en"));
      expect(complaints).toEqual([]);
    },
    60_000,
  );

  it.runIf(full)("shows a typing indicator for about 500 ms before a canned answer", async () => {
    const { page } = await openPage(site, wide);
    await visit(page, site.address);
    await openSupport(page);
    const [typedMs, answeredMs] = await page.evaluate(async () => {
      const log = document.querySelector('[role="log"]');
      const suggestion = [...document.querySelectorAll("button")].find((button) => button.textContent === "What do the plans cost?");
      const start = performance.now();
      const seen = (test: () => boolean) =>
        new Promise<number>((resolve) => {
          const look = () => (test() ? resolve(performance.now() - start) : requestAnimationFrame(look));
          look();
        });
      suggestion?.click();
      const typed = await seen(() => log?.textContent?.includes("Writing an answer") === true);
      const answered = await seen(() => log?.textContent?.includes("Every plan reaches every model") === true);
      return [typed, answered];
    });
    expect(answeredMs).toBeGreaterThanOrEqual(480);
    expect(typedMs).toBeLessThan(answeredMs);
  });

  it("says so when it has no answer, and offers to send the question to the team", async () => {
    const { page } = await openPage(site, wide);
    await visit(page, site.address);
    await openSupport(page);
    const question = "Is there a dog & a <cat>?";
    expect(await answerTo(page, question)).toContain("I don't know that one");
    const link = panel(page).getByRole("log").getByRole("link", { name: "Write to the team" });
    const query = new URL((await link.getAttribute("href")) ?? "", site.address).searchParams;
    expect(Object.fromEntries(query)).toEqual({ category: "support", message: question });
    await link.click();
    await page.waitForURL("**/contact**");
    await expect.poll(() => page.getByRole("textbox", { name: /message/i }).inputValue()).toBe(question);
    expect(await panel(page).count()).toBe(0);
  });

  it.runIf(hasTurn("workers", "support"))("works in the reader's language with the server stopped", async () => {
    const own = await serve(site.folder);
    const { page } = await openPage(site, { ...wide, locale: "de-DE", serviceWorkers: "allow", fresh: true });
    await visit(page, own.address);
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    await page.reload();
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await openSupport(page);
    await page.keyboard.press("Escape");
    await own.close();
    await openSupport(page);
    expect(await answerTo(page, "Was kostet ein Bild?")).toContain("GPT Image 2.6 Flare");
  });

  it("shows an error when it can't be loaded, and opens when it can", async () => {
    const { page } = await openPage(site, { ...wide, fresh: true });
    const devTools = await page.context().newCDPSession(page);
    await devTools.send("Network.enable");
    await devTools.send("Network.setBlockedURLs", { urls: ["*/assets/support-panel-*.js"] });
    await visit(page, site.address);
    await supportButton(page).click();
    await page.getByText("Sorry, I'm having trouble responding right now. Please try again in a moment.", { exact: true }).waitFor();
    await devTools.send("Network.setBlockedURLs", { urls: [] });
    await supportButton(page).click();
    await openSupport(page);
  });

  it("leaves the page usable, closes on Escape, returns the focus and keeps the conversation", async () => {
    const { page } = await openPage(site, phone);
    await visit(page, `${site.address}/pricing`);
    await openSupport(page);
    expect(await panel(page).getAttribute("aria-modal")).toBe("false");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT");
    await answerTo(page, "refund");
    const box = await panel(page).boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
    await page.keyboard.press("Escape");
    await panel(page).waitFor({ state: "detached" });
    expect(await supportButton(page).evaluate((button) => button === document.activeElement)).toBe(true);
    await openSupport(page);
    expect(await panel(page).getByRole("log").textContent()).toContain(`${moneyBackDays} days`);
  });

  it.runIf(full)("has no accessibility violation on the about page in either theme, panel open", async () => {
    const { page, complaints } = await openPage(site, { ...phone, fresh: true });
    await visit(page, `${site.address}/about`);
    await openSupport(page);
    await answerTo(page, "all models and their prices");
    expect(await violationsOn(page, "/about", { colorSchemes: themes })).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("covers neither the consent banner nor the feedback card, at any width", async () => {
    const { page } = await openPage(site, { fresh: true });
    await page.clock.install();
    await visit(page, site.address);
    const consent = page.getByRole("region", { name: /privacy/i });
    await consent.waitFor();
    // The feedback card appears ten seconds after the page has loaded.
    await page.clock.fastForward(10_000);
    const feedback = page.getByRole("button", { name: "Give Feedback" });
    await feedback.waitFor();
    const covered = () =>
      supportButton(page).evaluate((button) => {
        const own = button.getBoundingClientRect();
        const others = [...document.querySelectorAll("button, a")].filter(
          (other) => other !== button && getComputedStyle(other.closest("section, aside, form, dialog") ?? other).position === "fixed",
        );
        return others
          .filter((other) => {
            const box = other.getBoundingClientRect();
            return box.left < own.right && box.right > own.left && box.top < own.bottom && box.bottom > own.top;
          })
          .map((other) => other.textContent);
      });
    for (const width of [320, 390, 1440]) {
      await page.setViewportSize({ width, height: 844 });
      // Banner and card measure themselves after the window has changed.
      await expect.poll(covered, { message: `at ${width}` }).toEqual([]);
      // It is in the right half, near the edge, and below the middle.
      const box = await supportButton(page).boundingBox();
      expect(width - ((box?.x ?? 0) + (box?.width ?? 0)), `at ${width}`).toBeLessThanOrEqual(16);
      expect(box?.y ?? 0, `at ${width}`).toBeGreaterThan(422);
    }
  });
});
