import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { Site } from "./frame-support.ts";
import { onSite } from "./frame-support.ts";

let site: Site;
onSite((opened) => {
  site = opened;
});

describe("the shell", () => {
  it("answers a missing asset with 404, never with HTML", async () => {
    const response = await fetch(`${site.address}/assets/index-gone.js`, { headers: { accept: "*/*" } });
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).not.toContain("html");
  });

  it("marks theme and session in the file that runs before the first paint", async () => {
    const assets = path.join(site.folder, "assets");
    const boot = (await readdir(assets)).find((file) => /^boot-.*\.js$/.test(file)) ?? "";
    const source = await readFile(path.join(assets, boot), "utf8");
    const run = (stored: Readonly<Record<string, string>>) => {
      const root = { lang: "fr", dataset: {} as Record<string, string> };
      const storage = { getItem: (key: string) => stored[key] ?? null };
      runInNewContext(source, {
        document: { documentElement: root, querySelector: () => null },
        localStorage: storage,
        sessionStorage: storage,
        matchMedia: () => ({ matches: false }),
        requestAnimationFrame: () => 0,
        addEventListener: () => undefined,
      });
      return root;
    };
    expect(run({})).toEqual({ lang: "fr", dataset: {} });
    expect(run({ theme: "dark", session: "{}" }).dataset).toMatchObject({ theme: "dark", session: "" });
    // The page keeps the server's lang attribute, because it is the language the page is rendered in.
    expect(run({ language: "de" }).lang).toBe("fr");
  });
});
