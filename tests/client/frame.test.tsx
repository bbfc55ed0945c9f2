import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { themes, violationsOn } from "#tests/support/accessibility.ts";
import { full } from "#tests/support/full.ts";
import type { Site } from "./frame-support.ts";
import { onSite, openPage, visit } from "./frame-support.ts";

let site: Site;
onSite((opened) => {
  site = opened;
});

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** The bottom edge of the bar in pixels: 0 or less if it is hidden. */
async function barTop(page: Page): Promise<number> {
  return page.evaluate(() => document.querySelector("header")?.getBoundingClientRect().bottom ?? Number.NaN);
}

async function scrollPage(page: Page, y: number): Promise<void> {
  await page.evaluate((top) => scrollTo({ top, behavior: "instant" }), y);
}

describe("navigation bar (specification §2)", () => {
  it("links to the five pages, the prices and, for visitors, the sign-in; never to /admin or /profile", async () => {
    const { page } = await openPage(site, { viewport: { width: 1440, height: 900 } });
    await visit(page, site.address);
    const links = await page.$$eval("header nav a", (anchors) => anchors.map((anchor) => anchor.getAttribute("href")));
    expect(links).toEqual(["/", "/ai-models", "/pricing", "/about", "/contact", "/marketing"]);
    await page.waitForSelector('header a[href="/auth"]');
    expect(await page.$$('header a[href="/admin"], header a[href="/profile"]')).toHaveLength(0);
  });

  it("hides on scrolling down past 100 px and reappears on scrolling up", async () => {
    const { page } = await openPage(site, { viewport: { width: 1440, height: 900 } });
    await visit(page, site.address);
    await scrollPage(page, 90);
    await expect.poll(() => barTop(page)).toBeGreaterThan(0);
    await scrollPage(page, 600);
    await expect.poll(() => barTop(page)).toBeLessThanOrEqual(0);
    await scrollPage(page, 500);
    await expect.poll(() => barTop(page)).toBeGreaterThan(0);
  });

  it("reappears when the keyboard focus reaches it", async () => {
    const { page } = await openPage(site, { viewport: { width: 1440, height: 900 } });
    await visit(page, site.address);
    await scrollPage(page, 800);
    await expect.poll(() => barTop(page)).toBeLessThanOrEqual(0);
    await page.locator("header a").first().focus();
    await expect.poll(() => barTop(page)).toBeGreaterThan(0);
  });

  it("has its links in a menu on the right on small screens, which traps the focus and returns it", async () => {
    const { page } = await openPage(site, phone);
    await visit(page, site.address);
    const opener = page.getByRole("button", { name: "Open menu" });
    await opener.focus();
    await page.keyboard.press("Enter");
    const menu = page.getByRole("dialog", { name: "Menu" });
    await menu.waitFor();
    const box = await menu.boundingBox();
    expect(Math.round((box?.x ?? 0) + (box?.width ?? 0))).toBe(390);
    const addresses = await menu.locator("a").evaluateAll((anchors) => anchors.map((anchor) => anchor.getAttribute("href")));
    expect(addresses).toEqual(["/", "/ai-models", "/pricing", "/about", "/contact", "/marketing", "/auth"]);
    for (let presses = 0; presses < 30; presses += 1) {
      await page.keyboard.press("Tab");
      const outside = await page.evaluate(() => document.activeElement !== document.body && !document.activeElement?.closest("dialog"));
      expect(outside).toBe(false);
    }
    await page.keyboard.press("Escape");
    await menu.waitFor({ state: "hidden" });
    expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true);
  });
});

describe("routes", () => {
  it("focus the new page's heading, set the title and start at the top", async () => {
    const { page } = await openPage(site, { viewport: { width: 1440, height: 900 } });
    await visit(page, site.address);
    await page.locator('footer a[href="/pricing"]').click();
    await expect.poll(() => page.title()).toMatch(/^Pricing/);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
    expect(await page.evaluate(() => scrollY)).toBe(0);
  });

  it("have a first link that skips the bar", async () => {
    const { page } = await openPage(site);
    await visit(page, `${site.address}/pricing`);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
  });

  it("show a not-found page with a link home at any other address, in production also at /design", async () => {
    for (const address of ["/nowhere", "/design", "/blog/unknown/deep"]) {
      const { page } = await openPage(site);
      await visit(page, site.address + address);
      await page.getByRole("heading", { name: "Page not found" }).waitFor();
      await page.getByRole("link", { name: "Return home" }).click();
      await page.waitForURL(`${site.address}/`);
      await site.devices.takeBack();
    }
  });
});

describe("a missing chunk", () => {
  it("causes one reload, then a page with links to elsewhere; the frame stays", async () => {
    const { page } = await openPage(site, { fresh: true });
    // Before the visit, because a page that is at rest fetches what its links lead to.
    await page.route(/\/assets\/pricing-.*\.js$/, (route) => route.abort());
    const { promise: drawing, resolve: showDrawing } = Promise.withResolvers<void>();
    await page.route(/\/assets\/missing-tile-.*\.js$/, async (route) => {
      await drawing;
      await route.continue();
    });
    await visit(page, site.address);
    let loads = 0;
    page.on("load", () => (loads += 1));
    await page.locator('footer a[href="/pricing"]').click();
    await page.getByRole("heading", { name: "This page could not be shown" }).waitFor();
    expect(loads).toBe(1);
    expect(await page.evaluate(() => scrollY), "the new page begins at its top").toBe(0);
    expect(await page.locator("header nav, header button").count()).toBeGreaterThan(0);
    const reload = page.getByRole("button", { name: "Reload" });
    const before = await reload.boundingBox();
    showDrawing();
    await page.locator("main svg rect").first().waitFor();
    expect(await reload.boundingBox(), "nothing moves under the finger when the drawing comes").toEqual(before);
    await page.unroute(/\/assets\/pricing-.*\.js$/);
    await reload.click();
    await page.getByRole("heading", { level: 1, name: "Credits you can count" }).waitFor();
  });
});

describe("theme and language", () => {
  it.runIf(full)("keep a chosen theme after a reload and apply it before the first paint", async () => {
    const { page } = await openPage(site, { viewport: { width: 1440, height: 900 }, colorScheme: "light", fresh: true });
    await visit(page, site.address);
    const button = page.getByRole("button", { name: /^Theme/ });
    await button.click();
    await button.click();
    expect(await page.evaluate(() => localStorage.getItem("theme"))).toBe("dark");
    await page.addInitScript(() => {
      document.addEventListener("DOMContentLoaded", () => {
        (window as { atParse?: string }).atParse = document.documentElement.dataset.theme ?? "none";
      });
    });
    await page.reload();
    expect(await page.evaluate(() => (window as { atParse?: string }).atParse)).toBe("dark");
  });

  it("store a language only when it is chosen, and set the page's lang attribute", async () => {
    const { page } = await openPage(site, { locale: "de-AT", viewport: { width: 1440, height: 900 } });
    await visit(page, site.address);
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("de");
    expect(await page.evaluate(() => localStorage.getItem("language"))).toBeNull();
    const options = await page.locator("header select option").allInnerTexts();
    expect(options).toHaveLength(11);
    await page.locator("header select").selectOption("pl");
    await page.waitForFunction(() => document.documentElement.lang === "pl");
    expect(await page.evaluate(() => localStorage.getItem("language"))).toBe("pl");
    await page.reload();
    await page.waitForSelector("main h1");
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("pl");
  });
});

describe("home and pricing", () => {
  it.runIf(full)("have no accessibility violation in either theme, menu and questions open", async () => {
    for (const [address, options] of [
      ["/", { viewport: { width: 1440, height: 900 } }],
      ["/pricing", phone],
      ["/nowhere", phone],
    ] as const) {
      const { page, complaints } = await openPage(site, { ...options, fresh: true });
      await visit(page, site.address + address);
      await page.$$eval("details", (all) => {
        for (const details of all) details.open = true;
      });
      if (address === "/nowhere") await page.getByRole("button", { name: "Open menu" }).click();
      expect(await violationsOn(page, address, { colorSchemes: themes })).toEqual([]);
      expect(complaints).toEqual([]);
      await site.devices.takeBack();
    }
  });

  it("fit every width without horizontal scrolling, and without errors or warnings", async () => {
    for (const width of full ? [320, 390, 768, 1440, 2560] : [320, 1440]) {
      const { page, complaints } = await openPage(site, { viewport: { width, height: 900 } });
      for (const address of ["/", "/pricing"]) {
        await visit(page, site.address + address);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      }
      expect(complaints).toEqual([]);
      await site.devices.takeBack();
    }
  });

  it("fit a phone with text twice as large, in the languages with the longest words", async () => {
    for (const locale of full ? ["de", "fr", "pl", "ru"] : ["ru"]) {
      const { page } = await openPage(site, { ...phone, locale, fresh: true });
      const device = await page.context().newCDPSession(page);
      await device.send("Page.setFontSizes", { fontSizes: { standard: 32, fixed: 26 } });
      for (const address of ["/", "/pricing"]) {
        await visit(page, site.address + address);
        expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe("32px");
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(overflow, `${address} in ${locale}`).toBeLessThanOrEqual(0);
      }
      await site.devices.takeBack();
    }
  });
});
