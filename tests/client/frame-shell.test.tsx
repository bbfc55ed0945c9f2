import { readFile } from "node:fs/promises";
import path from "node:path";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { languages } from "#domain/languages.ts";
import type { Site } from "./frame-support.ts";
import { openPage, openSite, visit } from "./frame-support.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
}, 120_000);
afterAll(() => site?.close());

describe("the shell", () => {
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
