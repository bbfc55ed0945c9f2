/** The first frame in each language, without scripts and with them (docs/decisions/0009-pages-drawn-at-build.md). */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dayMs } from "#domain/clock.ts";
import { languages } from "#domain/languages.ts";
import { clientFolder } from "#tests/support/client-build.ts";
import { daily, full } from "#tests/support/full.ts";
import { root } from "#tests/support/sources.ts";
import type { Stage } from "./support.ts";
import { deviceOf, setStage } from "./support.ts";

const codes = languages.map(({ code }) => code);
const localeOf = { en: "en-GB", es: "es-MX", fr: "fr-CA", de: "de-AT", zh: "zh-CN", ja: "ja-JP", pt: "pt-BR", pl: "pl-PL" } as const;

let stage: Stage;
let addresses: string[];
beforeAll(async () => {
  stage = await setStage();
  const index = JSON.parse(readFileSync(path.join(clientFolder, "pages.json"), "utf8")) as {
    pages: Record<string, Record<string, string>>;
  };
  addresses = Object.keys(index.pages.en ?? {});
}, 180_000);
afterAll(() => stage?.close());

function pricingHeading(language: string): string {
  const file = path.join(root, `client/i18n/locales/${language}/pricing.json`);
  return (JSON.parse(readFileSync(file, "utf8")) as { heading: string }).heading;
}

function reader(language: string, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const locale = (localeOf as Readonly<Record<string, string>>)[language] ?? language;
  return deviceOf(stage, undefined, { locale, ...options });
}

/** Marks the server's elements before any module runs, and logs violations of the security policy. */
const markScript = `
  addEventListener("securitypolicyviolation", (event) => console.error("refused by the policy: " + event.violatedDirective + " " + event.blockedURI));
  document.addEventListener("DOMContentLoaded", () => {
    const heading = document.querySelector("h1");
    window.sent = { heading, text: heading?.textContent, lang: document.documentElement.lang, alive: isAlive(heading) };
  });
  const isAlive = (element) => Object.keys(element ?? {}).some((key) => key.startsWith("__reactFiber"));
  window.isHydrated = () => document.documentElement.dataset.live !== undefined && isAlive(document.querySelector("h1"));
`;

async function open(device: BrowserContext, address: string): Promise<{ page: Page; complaints: string[] }> {
  const page = await device.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !/service worker/i.test(message.text())) complaints.push(message.text());
  });
  await page.addInitScript(markScript);
  await page.goto(stage.url + address);
  await page.waitForSelector("html[data-live]");
  // Wakes up content that sleeps, so that it is hydrated too.
  await page.keyboard.press("Shift");
  await expect.poll(() => page.evaluate("window.isHydrated()")).toBe(true);
  return { page, complaints };
}

/** Styles that the browser has fetched although the page's sheet has them. */
const fetchedTwice = `performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)
  .filter((file) => document.querySelector('link[disabled][href="' + file + '"]') !== null)`;

/** Checks that no language is stored, neither in local storage nor in the cookie. */
async function expectNothingStored(page: Page): Promise<void> {
  expect(await page.evaluate("[localStorage.getItem('language'), document.cookie]")).toEqual([null, ""]);
}

const languagesADay = 2;
/** A language costs as much as five pages in it, so each day has others. */
const today = Math.floor(Date.now() / dayMs) * languagesADay;

describe("the first frame", () => {
  // Every language is opened with scripts below; these two differ most.
  for (const code of full ? codes : daily(["de", "ja"] as const)) {
    it(`is right in ${code} without scripts and with them, and unchanged after hydration`, async () => {
      const bare = await reader(code, { javaScriptEnabled: false });
      const page = await bare.newPage();
      await page.goto(`${stage.url}/pricing`);
      expect(await page.locator("html").getAttribute("lang")).toBe(code);
      expect(await page.locator("h1").textContent()).toBe(pricingHeading(code));
      expect(await page.locator("h1").isVisible()).toBe(true);
      await bare.close();

      const device = await reader(code);
      const { page: live, complaints } = await open(device, "/pricing");
      const sent = "[sent.text, sent.lang, sent.heading === document.querySelector('h1'), document.documentElement.lang]";
      expect(await live.evaluate(sent)).toEqual([pricingHeading(code), code, true, code]);
      await live.waitForLoadState("networkidle");
      expect(complaints).toEqual([]);
      await expectNothingStored(live);
      await device.close();
    });
  }

  it("of a public page is hydrated as it was sent, without errors, each page in another language", { timeout: 600_000 }, async () => {
    // A third of the pages, the next third the next day; `npm run test:full` has each page in each language.
    const turns = daily(addresses, Math.ceil(addresses.length / 3)).flatMap((address, index) => {
      const chosen = full ? codes : [codes[(today + (index % languagesADay)) % codes.length] ?? "en"];
      return chosen.map((code) => ({ address, code }));
    });
    /** One device for each language, because a page whose scripts the device has already costs half. */
    const look = async (code: string, turnsOfDevice: typeof turns) => {
      const device = await reader(code);
      for (const { address } of turnsOfDevice) {
        const { page, complaints } = await open(device, address);
        await page.waitForLoadState("networkidle");
        expect(await page.evaluate("sent.heading === document.querySelector('h1')"), `${address} ${code}`).toBe(true);
        expect(await page.evaluate("document.documentElement.lang")).toBe(code);
        expect(complaints, `${address} ${code}`).toEqual([]);
        expect(await page.locator('link[href^="/assets/sheet-"]').count(), address).toBe(1);
        expect(await page.evaluate(fetchedTwice), address).toEqual([]);
        await page.close();
      }
      await device.close();
    };
    // Several at once: most of the time is spent waiting for the network to be idle.
    const left = [...Map.groupBy(turns, ({ code }) => code)];
    const lookOn = async (): Promise<void> => {
      for (let next = left.shift(); next; next = left.shift()) await look(...next);
    };
    await Promise.all([lookOn(), lookOn(), lookOn()]);
  });

  it("stays if the page starts differently: with a query, with the frame alone, with no page", async () => {
    const device = await reader("de");
    for (const address of ["/auth?mode=sign-up", "/auth?return=%2Fpricing", "/nowhere/at-all"]) {
      const { page, complaints } = await open(device, address);
      await page.waitForLoadState("networkidle");
      expect(await page.evaluate("document.documentElement.lang")).toBe("de");
      const unexpected = complaints.filter((text) => !(address.startsWith("/nowhere") && text.includes("404")));
      expect(unexpected, address).toEqual([]);
      await page.close();
    }
    await device.close();
  });
});

describe("the reader's language", () => {
  it("is applied after hydration if the server assumed another, with nothing stored", async () => {
    // Pretend that a proxy or a cache sent the page in a language other than the browser's.
    const device = await reader("en");
    await device.addInitScript("Object.defineProperty(navigator, 'languages', { get: () => ['fr-CA', 'en'] })");
    const { page, complaints } = await open(device, "/pricing");
    expect(await page.evaluate("[sent.text, sent.lang]")).toEqual([pricingHeading("en"), "en"]);
    await page.getByRole("heading", { level: 1, name: pricingHeading("fr") }).waitFor();
    await expect
      .poll(() => page.evaluate("[sent.heading === document.querySelector('h1'), document.documentElement.lang]"))
      .toEqual([true, "fr"]);
    expect(complaints).toEqual([]);
    await expectNothingStored(page);
    await device.close();
  });

  it("is what the server sends from then on once it is chosen, by the menu or by ?lang=", async () => {
    const device = await reader("en", { javaScriptEnabled: true });
    const { page } = await open(device, "/pricing");
    await page.locator("header select").selectOption("ja");
    await page.getByRole("heading", { level: 1, name: pricingHeading("ja") }).waitFor();
    await expect.poll(() => page.evaluate("localStorage.getItem('language')")).toBe("ja");
    const [cookie] = await device.cookies();
    expect(cookie).toMatchObject({ name: "language", value: "ja", sameSite: "Lax", path: "/" });
    expect((cookie?.expires ?? 0) - Date.now() / 1000).toBeGreaterThan(360 * 86_400);
    await page.close();

    const next = await open(device, "/pricing");
    expect(await next.page.evaluate("[sent.lang, sent.text]")).toEqual(["ja", pricingHeading("ja")]);
    await next.page.close();

    const named = await open(device, "/pricing?lang=it");
    expect(await named.page.evaluate("[sent.lang, localStorage.getItem('language')]")).toEqual(["it", "it"]);
    expect(named.complaints).toEqual([]);
    await device.close();
  });
});

describe("the first frame's state from the device", () => {
  it("has the chosen theme, and no sign-in link for a signed-in person", async () => {
    const visitor = await stage.person(false);
    const device = await deviceOf(stage, visitor, { colorScheme: "light" });
    await device.addInitScript("localStorage.setItem('theme', 'dark')");
    // Blocks the page's script, so that the page stays as it was sent.
    await device.route(/\/assets\/index-.*\.js$/, () => undefined);
    const page = await device.newPage();
    await page.goto(`${stage.url}/`, { waitUntil: "commit" });
    await page.locator("h1").waitFor();
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    expect(await page.locator('header a[href="/auth"]').isVisible()).toBe(false);
    await device.unrouteAll();
    const { page: live, complaints } = await open(device, "/");
    await live.locator('header a[href="/profile"]').waitFor();
    expect(complaints).toEqual([]);
    await device.close();
  });
});
