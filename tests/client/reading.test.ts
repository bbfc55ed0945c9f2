/** Guides, articles and legal pages in a browser: prerendered and hydrated. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { articleNames, guideNames, legalNames, piecePath } from "#client/content/names.ts";
import { violationsOn } from "#tests/support/accessibility.ts";
import { daily, full } from "#tests/support/full.ts";
import type { Site } from "./frame-support.ts";
import { onSite, openPage, visit } from "./frame-support.ts";

let site: Site;
onSite((opened) => {
  site = opened;
});

const desktop = { viewport: { width: 1440, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const calculatorPath = piecePath("small-business-ai-roi-calculator");
const all = [...guideNames, ...articleNames, ...legalNames];

async function documentIn(language: string, address: string): Promise<string> {
  const response = await fetch(`${site.address}${address}`, { headers: { "accept-language": language } });
  expect(response.status, address).toBe(200);
  return await response.text();
}

function structuredData(html: string): { "@type": string }[] {
  return [...html.matchAll(/<script type="application\/ld\+json">(.*?)<\/script>/gs)].map(
    ([, json = ""]) => JSON.parse(json) as { "@type": string },
  );
}

const scrollTop = (page: Page) => page.evaluate(() => Math.round(scrollY));

describe("pieces as the server sends them", () => {
  it.each(all)("%s says in German that it is English, and marks its language", async (name) => {
    const html = await documentIn("de", piecePath(name));
    expect(html).toMatch(/<html[^>]* lang="de"/);
    expect(html).toContain('<article lang="en"');
    expect(html).toContain("Diese Seite gibt es noch nicht auf Deutsch");
    expect(html).not.toContain("{{");
    const english = await documentIn("en", piecePath(name));
    expect(english).not.toContain("This page is written in English");
    const types = structuredData(english).map((data) => data["@type"]);
    expect(types).toContain("BreadcrumbList");
    if (piecePath(name).startsWith("/blog/")) expect(types).toContain("BlogPosting");
  });

  it("use the text's language for credits and the reader's for dates", async () => {
    const html = await documentIn("ja", "/image-generation");
    expect(html).toContain("which is 1 credit here");
    expect(html).toMatch(/2026年9月\d+日/);
  });

  it("are not found under an unknown name", async () => {
    const response = await fetch(`${site.address}/blog/none`);
    expect(response.status).toBe(404);
  });

  it("have no style attributes", async () => {
    const html = await documentIn("en", calculatorPath);
    expect(html).not.toMatch(/ style="/);
  });
});

describe("a piece in the browser", () => {
  it("is hydrated without errors and has no accessibility violation, on phone and desktop, light and dark", async () => {
    const pieces = [
      ["/marketing", { ...phone, colorScheme: "dark" as const }],
      [calculatorPath, desktop],
      ["/blog", { ...phone, locale: "de" }],
      ["/terms", { ...desktop, colorScheme: "dark" as const }],
    ] as const;
    for (const [address, options] of daily(pieces, 2)) {
      const { page, complaints } = await openPage(site, options);
      await visit(page, `${site.address}${address}`);
      expect(await violationsOn(page, address, { within: "main" })).toEqual([]);
      expect(complaints, address).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), address).toBe(true);
      await site.devices.takeBack();
    }
  });

  it.runIf(full)("marks the section being read, jumps to one, and returns to the previous position", async () => {
    const { page } = await openPage(site, desktop);
    await visit(page, `${site.address}/blog`);
    await page.evaluate(() => scrollTo(0, 500));
    await page.getByRole("link", { name: "Settle it with your own work" }).click();
    const contents = page.getByRole("navigation", { name: "On this page" });
    await contents.waitFor();
    await expect.poll(() => scrollTop(page)).toBe(0);
    expect(await contents.locator("[aria-current]").count()).toBe(0);

    const section = contents.getByRole("link").nth(2);
    const title = await section.textContent();
    await section.click();
    await expect.poll(() => contents.locator("[aria-current]").allInnerTexts()).toEqual([title]);
    // A jump over several sections marks the one where it ends.
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await expect.poll(() => contents.locator("[aria-current]").allInnerTexts()).not.toEqual([title]);

    // After a jump within the page, a link to another page still starts at its top.
    await page.getByRole("region", { name: "Read next" }).getByRole("link").first().click();
    await expect.poll(() => scrollTop(page)).toBe(0);
    await page.goBack();
    await page.goBack();
    await page.goBack();
    await page.waitForURL("**/blog");
    await expect.poll(() => scrollTop(page)).toBe(500);
  });

  it("collapses its table of contents on a phone, and again after a section is chosen", async () => {
    const { page } = await openPage(site, phone);
    await visit(page, `${site.address}/marketing`);
    const contents = page.getByRole("navigation", { name: "On this page" });
    expect(await contents.getByRole("link").first().isVisible()).toBe(false);
    await contents.getByText("On this page").click();
    // The tap has woken the page up.
    await page.locator("main:not([data-asleep])").waitFor();
    const section = contents.getByRole("link").nth(1);
    await section.click();
    await expect.poll(() => new URL(page.url()).hash).not.toBe("");
    await expect.poll(() => section.isVisible()).toBe(false);
  });

  it.runIf(full)("prints without the frame, with its links' addresses, in light colours", async () => {
    const { page } = await openPage(site, { ...desktop, colorScheme: "dark", fresh: true });
    await visit(page, `${site.address}/terms`);
    await page.emulateMedia({ media: "print" });
    for (const hidden of ["header nav", "footer", "nav[aria-labelledby='contents-title']"]) {
      expect(await page.locator(hidden).first().isVisible(), hidden).toBe(false);
    }
    const link = page.locator("article p a[href^='/']").nth(1);
    expect(await link.evaluate((anchor) => getComputedStyle(anchor, "::after").content)).toContain("(");
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe("light");
  });
});

describe("a prompt card", () => {
  it("copies its prompt, and brings it to the chat, where it is kept for a visitor until they sign in", async () => {
    const { page } = await openPage(site, { ...desktop, permissions: ["clipboard-read", "clipboard-write"] });
    await visit(page, `${site.address}/marketing`);
    const card = page.getByRole("figure", { name: /^Prompt for / }).first();
    await card.getByRole("button", { name: "Copy" }).click();
    await card.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied.length).toBeGreaterThan(40);

    await card.getByRole("link", { name: "Try this prompt" }).click();
    const waiting = page.getByRole("region", { name: /Your prompt .* is waiting/ });
    await waiting.waitFor();
    expect(await waiting.locator("blockquote").textContent()).toBe(copied);
    const signIn = await page.getByRole("main").getByRole("link", { name: "Sign in" }).getAttribute("href");
    const back = new URL(new URL(signIn ?? "", site.address).searchParams.get("return") ?? "", site.address);
    expect(back.searchParams.get("prompt")).toBe(copied);

    // A mailed link opens the product in a new page, where the prompt is still kept.
    await visit(page, `${site.address}/ai-models`);
    await waiting.waitFor();
  });

  it("for a model that makes pictures leads to the chat with that model", async () => {
    const { page } = await openPage(site, desktop);
    await visit(page, `${site.address}/image-generation`);
    const card = page.getByRole("figure", { name: "Prompt for GPT Image 2.6 Flare" }).first();
    expect(await card.getByRole("link").getAttribute("href")).toContain("model=gpt-image-2.6-flare");
  });
});

describe("the calculator", () => {
  it("works offline, shows its result, and can be restored from its link", async () => {
    const { page } = await openPage(site, { ...desktop, permissions: ["clipboard-read", "clipboard-write"] });
    await visit(page, `${site.address}${calculatorPath}`);
    const calculator = page.getByRole("region", { name: "Your task, your numbers" });
    await calculator.getByText("$194.51").waitFor();
    // The prerendered calculator is disabled until its script has loaded.
    await expect.poll(() => calculator.getByLabel("Plan").isEnabled()).toBe(true);
    await page.context().setOffline(true);
    await calculator.getByLabel("Hours a week on the task").fill("10");
    await calculator.getByLabel("Plan").selectOption("basic");
    await calculator.getByLabel("Annually").check();
    await calculator.getByText("$390.51").waitFor();
    await expect
      .poll(() => calculator.getByRole("status").allInnerTexts())
      .toContain("Time saved a month: 14.1 hours, worth $422.50. The plan costs $31.99. Left over: $390.51.");
    await page.context().setOffline(false);
    await calculator.getByRole("button", { name: "Copy link" }).click();
    await calculator.getByRole("button", { name: "Link copied" }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    const { page: other } = await openPage(site, desktop);
    await visit(other, link);
    await other.getByText("$390.51").waitFor();
    expect(await other.getByLabel("Annually").isChecked()).toBe(true);
  });

  it("says what is wrong with a field and then shows no result", async () => {
    const { page } = await openPage(site, desktop);
    await visit(page, `${site.address}${calculatorPath}?task=-5&hour=%3Cscript%3E&saved=1e9&plan=constructor`);
    const calculator = page.getByRole("region", { name: "Your task, your numbers" });
    // A link with hostile values shows the example.
    await calculator.getByText("$194.51").waitFor();
    await calculator.getByLabel("Share of the time that is saved").fill("140");
    await calculator.getByText("Enter a whole number from 0 to 100.").waitFor();
    expect(await calculator.getByText("$194.51").count()).toBe(0);
  });
});
