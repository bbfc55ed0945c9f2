/** Public pages whose content sleeps: only the frame is hydrated (docs/decisions/0030-content-sleeps.md). */
import type { BrowserContextOptions, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { daily, full } from "#tests/support/full.ts";
import type { Site } from "./frame-support.ts";
import { onSite, openPage, visit } from "./frame-support.ts";

let discountEligible = false;
let site: Site;
onSite(
  (opened) => {
    site = opened;
  },
  async (request, reply) => {
    if (request.url !== "/api/functions/check-discount-eligibility") return reply.callNotFound();
    const terms = {
      discountPercentage: 20,
      originalPrice: 1_999,
      discountedPrice: 1_599,
      annual: { originalPrice: 19_190, discountedPrice: 15_352 },
    };
    const pricing = { starter: terms, basic: terms, professional: terms, enterprise: terms };
    return { discountEligible, pricing };
  },
);

const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

async function openAsleep(address: string, options = phone): Promise<{ page: Page; complaints: string[]; asked: string[] }> {
  const opened = await openPage(site, { ...options, fresh: true, untouched: true });
  const asked: string[] = [];
  opened.page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await visit(opened.page, site.address + address);
  return { ...opened, asked };
}

/** A page that does not come to rest by itself: that would be after four seconds, which a busy machine may need for the rest. */
async function openRestless(address: string): ReturnType<typeof openPage> {
  const opened = await openPage(site, { ...phone, fresh: true, untouched: true });
  await opened.page.addInitScript(() => {
    const schedule = window.setTimeout.bind(window);
    window.setTimeout = ((run: () => void, ms?: number) => (ms === 4_000 ? 0 : schedule(run, ms))) as typeof window.setTimeout;
  });
  await visit(opened.page, site.address + address);
  return opened;
}

/** How many elements of the content React knows, except for parts that are alive on their own ("Save for offline"). */
function hydrated(page: Page): Promise<number> {
  return page.evaluate(() => {
    const all = [...document.querySelectorAll("main h1, main h1 ~ *, main section *, main article *")];
    const drawn = all.filter((element) => !element.closest("[data-awake]") || element.matches("[data-awake]"));
    return drawn.filter((element) => Object.keys(element).some((key) => key.startsWith("__reactFiber"))).length;
  });
}

/** The paths of the scripts that the page has loaded and that match. */
function fetched(page: Page, pattern: RegExp): Promise<string[]> {
  const paths = page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
  return paths.then((all) => all.filter((path) => pattern.test(path)));
}

/** Holds the content's code back until the returned function is called. */
async function holdCode(page: Page): Promise<() => void> {
  const { promise: allowed, resolve: letIn } = Promise.withResolvers<void>();
  await page.route(/\/assets\/(auth|contact)-.*\.js$/, async (route) => {
    await allowed;
    await route.continue();
  });
  return letIn;
}

const isAsleep = (page: Page) => page.locator("main[data-asleep]").count();

describe("content that sleeps", () => {
  const pages = ["/", "/pricing", "/about", "/terms", "/getting-started", "/blog", "/blog/gpt-5-vs-gpt-4-small-business"];
  it.each(daily(pages, 2))("is neither hydrated nor loads its code while %s is only read", async (address) => {
    const { page, asked, complaints } = await openAsleep(address);
    await page.waitForLoadState("networkidle");
    expect(await isAsleep(page)).toBe(1);
    expect(await hydrated(page)).toBe(0);
    const files = (await page.locator('meta[name="content-scripts"]').getAttribute("content"))?.split(" ") ?? [];
    const own = files.filter((file) => /\/(home|pricing|about|guide|blog|article|piece)-/.test(file));
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter((file) => asked.includes(file))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("wakes up at the first tap on a control, which is not lost", async () => {
    const { page, complaints } = await openAsleep("/pricing");
    await page.locator("main fieldset label").nth(1).tap();
    await page.getByText("$191.90").first().waitFor();
    expect(await isAsleep(page)).toBe(0);
    expect(complaints).toEqual([]);
  });

  it.runIf(full)("presses the button that was tapped while its code was still loading", async () => {
    const { page } = await openAsleep("/pricing");
    const { promise: allowed, resolve: letIn } = Promise.withResolvers<void>();
    await page.route(/\/assets\/pricing-.*\.js$/, async (route) => {
      await allowed;
      await route.continue();
    });
    await page.getByRole("button", { name: /Starter/ }).tap();
    expect(await isAsleep(page)).toBe(1);
    letIn();
    await page.waitForURL(/\/auth/);
  });

  it("opens its links in the same document, with the focus on the new page's heading", async () => {
    const { page } = await openAsleep("/terms");
    await page.evaluate(() => document.documentElement.setAttribute("data-same", ""));
    await page.locator('main a[href="/privacy"]').first().tap();
    await page.waitForURL(/\/privacy$/);
    await page.waitForFunction(() => document.activeElement?.tagName === "H1");
    expect(await page.locator("html[data-same]").count()).toBe(1);
    expect(await isAsleep(page)).toBe(0);
    await page.goBack();
    await page.locator("main h1", { hasText: "Terms" }).waitFor();
  });

  it("leaves out of the first load what nobody needs at first; it comes when the reader scrolls", async () => {
    const { page, complaints } = await openRestless("/terms");
    await page.waitForLoadState("networkidle");
    // Only scripts: the styles of these parts are loaded earlier, because the trial's prerendered offer needs some of them.
    const late = () => fetched(page, /\/(late-parts|consent-banner|bridge)-.*\.js$|^\/service-worker\.js$/);
    expect(await late()).toEqual([]);
    await page.evaluate(() => scrollTo(0, 200));
    await page.getByRole("button", { name: "Support" }).waitFor();
    expect(await late()).not.toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("gets what nobody needs at first although nobody touches the page", async () => {
    const { page } = await openAsleep("/terms");
    await page.getByRole("button", { name: "Support" }).waitFor();
    expect(await isAsleep(page)).toBe(1);
  });

  it.runIf(full)("is translated when the reader chooses another language, and keeps its elements", async () => {
    const { page, complaints } = await openAsleep("/about", { viewport: { width: 1440, height: 900 } });
    await page.evaluate(() => document.querySelector("main h1")?.setAttribute("data-same", ""));
    await page.locator("header select").selectOption("fr");
    await page.waitForFunction(() => document.documentElement.lang === "fr");
    await expect.poll(() => page.locator("main h1[data-same]").textContent()).not.toMatch(/Small tiles/);
    expect(complaints).toEqual([]);
  });

  it.runIf(full)("shows a discount without being touched", async () => {
    discountEligible = true;
    try {
      const { page } = await openAsleep("/pricing");
      await page.getByText("$15.99").first().waitFor();
    } finally {
      discountEligible = false;
    }
  });
});

describe("a tool that sleeps until its page is used", () => {
  it.each(full ? ["/auth", "/contact", "/ai-models"] : ["/auth"])(
    "is neither hydrated nor loads its code while nobody has touched %s",
    async (address) => {
      const { page, complaints } = await openRestless(address);
      await page.waitForLoadState("networkidle");
      expect(await isAsleep(page)).toBe(1);
      expect(await hydrated(page)).toBe(0);
      expect(await fetched(page, /\/(auth|contact|ai-models)-.*\.js$/)).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  it.each(full ? ["/auth", "/contact", "/ai-models"] : ["/ai-models"])(
    "is alive a few seconds after %s has loaded, although nobody touches it",
    async (address) => {
      const { page, complaints } = await openAsleep(address);
      await expect.poll(() => isAsleep(page), { timeout: 20_000 }).toBe(0);
      expect(await hydrated(page)).toBeGreaterThan(0);
      expect(complaints).toEqual([]);
    },
  );

  it("loses nothing that is typed, chosen and sent while its code is loading", async () => {
    const { page } = await openRestless("/contact");
    const letIn = await holdCode(page);
    await page.getByLabel("Message").tap();
    await page.keyboard.type("A word in time");
    await page.getByLabel("Name").fill("Ada");
    await page.getByLabel("Email").fill("ada@example.com");
    await page.getByLabel("Category").selectOption("bug");
    await page.getByRole("button", { name: "Send" }).tap();
    expect(await isAsleep(page)).toBe(1);
    const [asked] = await Promise.all([page.waitForRequest("**/api/contact"), letIn()]);
    expect(asked.postDataJSON()).toMatchObject({ name: "Ada", email: "ada@example.com", category: "bug", message: "A word in time" });
  });

  it("leaves a word alone that is being composed, and the cursor where it is", async () => {
    const { page, complaints } = await openRestless("/contact");
    const message = page.getByLabel("Message");
    const letIn = await holdCode(page);
    await message.tap();
    await page.keyboard.type("今日は。");
    await message.evaluate((field: HTMLTextAreaElement) => field.setSelectionRange(0, 0));
    const keyboard = await page.context().newCDPSession(page);
    await keyboard.send("Input.imeSetComposition", { text: "ぶんか", selectionStart: 3, selectionEnd: 3 });
    letIn();
    await page.waitForLoadState("networkidle");
    expect(await message.inputValue()).toBe("ぶんか今日は。");
    // If the word is still being composed, this replaces it.
    await keyboard.send("Input.insertText", { text: "文化、" });
    await expect.poll(() => isAsleep(page)).toBe(0);
    await page.keyboard.type("と");
    expect(await message.inputValue()).toBe("文化、と今日は。");
    expect(complaints).toEqual([]);
  });

  it("keeps what is typed without a connection, and comes alive with it when there is one", async () => {
    const { page } = await openRestless("/contact");
    const failed = page.waitForEvent("requestfailed", (request) => /\/contact-.*\.js$/.test(request.url()));
    await page.context().setOffline(true);
    await page.getByLabel("Message").tap();
    await page.keyboard.type("From a tunnel");
    await failed;
    await page.keyboard.type(", still");
    expect(await isAsleep(page)).toBe(1);
    await page.context().setOffline(false);
    await expect.poll(() => isAsleep(page)).toBe(0);
    expect(await page.getByLabel("Message").inputValue()).toBe("From a tunnel, still");
  });
});
