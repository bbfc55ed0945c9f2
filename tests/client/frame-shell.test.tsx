import { appendFile, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { languages } from "#domain/languages.ts";
import type { Site } from "./frame-support.ts";
import { copyOf, openPage, openSite, serve, visit } from "./frame-support.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
}, 120_000);
afterAll(() => site?.close());

/** Opens the site as a returning visitor: its service worker is installed and in charge. */
async function returningVisitor(address: string): Promise<BrowserContext> {
  const context = await site.browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  await visit(page, address);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.reload();
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await page.close();
  return context;
}

describe("the shell", () => {
  it("opens a deep link with the server stopped, and never keeps an answer of the API", async () => {
    const own = await serve(site.folder);
    const context = await returningVisitor(own.address);
    await own.close();
    const page = await context.newPage();
    await page.goto(`${own.address}/pricing`);
    await page.getByRole("heading", { level: 1, name: "Credits you can count" }).waitFor();
    const kept = await page.evaluate(async () => {
      const names = await caches.keys();
      const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
      return requests.flat().map((request) => new URL(request.url).pathname);
    });
    expect(kept).toContain("/index.html");
    expect(kept.filter((address) => address.startsWith("/api"))).toEqual([]);
    await context.close();
  });

  it("offers a new version and takes it over on the person's word, with one reload", async () => {
    const folder = await copyOf(site.folder);
    const own = await serve(folder);
    const context = await returningVisitor(own.address);
    const page = await context.newPage();
    await visit(page, own.address);
    let loads = 0;
    page.on("load", () => (loads += 1));
    await appendFile(path.join(folder, "service-worker.js"), "\n// the next release\n");
    // The bridge registers a moment after the load; asking for the update before that would ask nobody.
    const offer = page.getByText("A new version is ready");
    await expect
      .poll(
        async () => {
          await page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.update());
          return offer.isVisible();
        },
        { timeout: 15_000, interval: 300 },
      )
      .toBe(true);
    expect(loads).toBe(0);
    await page.getByRole("button", { name: "Reload now" }).click();
    await expect.poll(() => loads).toBe(1);
    await page.waitForSelector("main h1");
    expect(await page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.waiting)).toBeNull();
    await context.close();
    await own.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("is installable: no fault in the browser's own check of the manifest", async () => {
    const context = await returningVisitor(site.address);
    const page = await context.newPage();
    await visit(page, site.address);
    const devTools = await context.newCDPSession(page);
    const { errors, data } = await devTools.send("Page.getAppManifest");
    expect(errors).toEqual([]);
    const manifest = JSON.parse(data ?? "{}") as { id: string; display: string; icons: { src: string; purpose: string }[] };
    expect(manifest).toMatchObject({ id: "/", display: "standalone" });
    expect(manifest.icons.map((icon) => icon.purpose)).toContain("maskable");
    for (const { src } of manifest.icons) expect((await fetch(site.address + src)).headers.get("content-type")).toBe("image/png");
    await context.close();
  });

  it("answers a missing asset with 404, never with HTML", async () => {
    const response = await fetch(`${site.address}/assets/index-gone.js`, { headers: { accept: "*/*" } });
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).not.toContain("html");
  });

  it("loads at most 1.35 F of JavaScript, and of styles 0.2 F, for a public page", async () => {
    const floorBytes = 90.9 * 1_000;
    for (const address of ["/", "/pricing"]) {
      const { page } = await openPage(site);
      const files = new Set<string>();
      page.on("request", (request) => files.add(new URL(request.url()).pathname));
      await visit(page, site.address + address);
      const sizes = await Promise.all(
        [...files]
          .filter((file) => /\.(js|css)$/.test(file))
          .map(async (file) => ({ file, bytes: gzipSync(await readFile(path.join(site.folder, file))).length })),
      );
      const sum = (kind: RegExp) => sizes.filter(({ file }) => kind.test(file)).reduce((total, { bytes }) => total + bytes, 0);
      const texts = sum(/\/locale-.*\.js$/);
      expect(sum(/\.js$/) - texts).toBeLessThanOrEqual(1.35 * floorBytes);
      expect(texts).toBeLessThanOrEqual(15_000);
      expect(sum(/\.css$/)).toBeLessThanOrEqual(0.2 * floorBytes);
      await page.context().close();
    }
  });

  it("speaks the product's languages in the file that runs before the first paint", async () => {
    const source = await readFile(path.join(site.folder, "boot.js"), "utf8");
    for (const { code } of languages) {
      const root = { lang: "", dataset: {} };
      runInNewContext(source, {
        document: { documentElement: root, querySelector: () => null },
        localStorage: { getItem: () => null },
        location: { search: "" },
        matchMedia: () => ({ matches: false }),
        navigator: { languages: [`${code}-XX`] },
        URLSearchParams,
      });
      expect(root.lang).toBe(code);
    }
  });
});
