/** The policy that stands behind the code: even if a hostile text reached the page as HTML, it could not run. */
import path from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root } from "#tests/support/sources.ts";
import { hasTurn } from "#tests/support/turns.ts";
import type { HostileWorld } from "./hostile-support.ts";
import { openReader, openWorld } from "./hostile-support.ts";

let world: HostileWorld;
beforeAll(async () => {
  world = await openWorld();
}, 180_000);
afterAll(() => world?.close());

it("every response carries the policy: no inline code, no other origin, Trusted Types required, and no guessing of types", async () => {
  const page = await (await fetch(world.url)).text();
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? expect.fail("the page has no script");
  const answers = [
    "/",
    "/no-such-page",
    "/de/<script>",
    "/auth?x=<script>",
    script,
    "/service-worker.js",
    "/manifest.webmanifest",
    "/assets/none.js",
  ];
  for (const path of [
    ...answers,
    "/sitemap.xml",
    "/api/models",
    "/api/account",
    "/api/none",
    "/%ff",
    "/healthz",
    `/avatars/${"0".repeat(8)}/96.webp`,
  ]) {
    const { headers } = await fetch(world.url + path);
    const policy = Object.fromEntries((headers.get("content-security-policy") ?? "").split("; ").map((part) => part.split(/ (.*)/s)));
    expect(policy, path).toMatchObject({
      "default-src": "'self'",
      "script-src": "'self'",
      "style-src": "'self'",
      "connect-src": "'self'",
      "object-src": "'none'",
      "base-uri": "'none'",
      "form-action": "'self'",
      "frame-ancestors": "'none'",
      "require-trusted-types-for": "'script'",
      "trusted-types": "tessera-sw",
    });
    expect(JSON.stringify(policy), path).not.toMatch(/unsafe-|https?:|\*|strict-dynamic/);
    expect(headers.get("x-content-type-options"), path).toBe("nosniff");
  }
});

it("files and pictures of people, opened as a document, may load, run, frame and send nothing", async () => {
  const authorization = `Bearer ${world.session.access_token}`;
  const picture = await sharp({ create: { width: 40, height: 40, channels: 3, background: "teal" } })
    .png()
    .toBuffer();
  const put = await fetch(`${world.url}/api/account/avatar`, {
    method: "PUT",
    body: new Uint8Array(picture),
    headers: { authorization, "content-type": "image/png" },
  });
  const { avatarUrl } = (await put.json()) as { avatarUrl: string };
  const posted = await fetch(`${world.url}/api/files?name=note.html`, {
    method: "POST",
    body: "<script>alert(1)</script>",
    headers: { authorization, "content-type": "text/html" },
  });
  const { id } = (await posted.json()) as { id: string };
  for (const path of [avatarUrl, `/api/files/${id}`]) {
    const { status, headers } = await fetch(world.url + path, { headers: { authorization } });
    expect([path, status, headers.get("x-content-type-options")]).toEqual([path, 200, "nosniff"]);
    const policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";
    expect(headers.get("content-security-policy"), path).toBe(policy);
    expect(headers.get("cache-control"), path).toMatch(/^private, /);
  }
});

it.each([
  ["from the server", false],
  ...(hasTurn("workers", "policy") ? [["from the service worker, offline", true] as const] : []),
] as const)(
  "a page %s lets no string become HTML, a script or a script's address, and loads nothing from elsewhere",
  async (_name, offline) => {
    const { page, context, traps } = await openReader(world, { worker: offline });
    await context.addInitScript({ path: path.join(root, "tests/e2e/script-attempts.js") });
    await page.goto(`${world.url}/ai-models`);
    await page.waitForSelector("html[data-live] main h1");
    if (offline) {
      await expect.poll(() => page.evaluate("navigator.serviceWorker.controller !== null")).toBe(true);
      await context.setOffline(true);
      await page.reload();
      await page.waitForSelector("html[data-live] main h1");
    }
    expect(await page.evaluate("window.openWays()")).toEqual([]);
    const before = traps.caught.length;
    expect(new Set(await page.evaluate<string[]>("window.askElsewhere()"))).toEqual(new Set(["refused"]));
    await expect
      .poll(() => traps.caught.slice(before).filter((what) => what.startsWith("the policy refused")).length)
      .toBeGreaterThanOrEqual(4);
    expect(traps.caught.filter((what) => !what.startsWith("the policy refused"))).toEqual([]);
    await context.close();
  },
);
