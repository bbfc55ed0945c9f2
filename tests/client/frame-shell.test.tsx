import { readFile } from "node:fs/promises";
import path from "node:path";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Site } from "./frame-support.ts";
import { openSite } from "./frame-support.ts";

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
    for (const address of ["/", "/pricing", "/about", "/contact", "/blog"]) {
      const html = await (await fetch(site.address + address)).text();
      // The document names all it needs; what comes once the page has come to rest is not part of it.
      const files = new Set([...html.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map(([, file = ""]) => file));
      const sizes = await Promise.all(
        [...files].map(async (file) => ({ file, bytes: gzipSync(await readFile(path.join(site.folder, file))).length })),
      );
      const sum = (kind: RegExp) => sizes.filter(({ file }) => kind.test(file)).reduce((total, { bytes }) => total + bytes, 0);
      const texts = sum(/\/locale-.*\.js$/);
      expect(files.size, address).toBeGreaterThan(5);
      expect(sum(/\.js$/) - texts, address).toBeLessThanOrEqual(1.35 * floorBytes);
      expect(texts, address).toBeLessThanOrEqual(15_000);
      expect(sum(/\.css$/), address).toBeLessThanOrEqual(0.2 * floorBytes);
    }
  });

  it("marks theme and session in the file that runs before the first paint", async () => {
    const source = await readFile(path.join(site.folder, "boot.js"), "utf8");
    const run = (stored: Readonly<Record<string, string>>) => {
      const root = { lang: "fr", dataset: {} as Record<string, string> };
      const storage = { getItem: (key: string) => stored[key] ?? null };
      runInNewContext(source, {
        document: { documentElement: root, querySelector: () => null },
        localStorage: storage,
        sessionStorage: storage,
        matchMedia: () => ({ matches: false }),
      });
      return root;
    };
    expect(run({})).toEqual({ lang: "fr", dataset: {} });
    expect(run({ theme: "dark", session: "{}" }).dataset).toMatchObject({ theme: "dark", session: "" });
    // The tag stays the server's: it says in which language the page stands there.
    expect(run({ language: "de" }).lang).toBe("fr");
  });
});
