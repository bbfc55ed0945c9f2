/** Hostile addresses, and a server that refuses a page, with the built client. */
import { expect, it, onTestFinished } from "vitest";
import { hasTurn } from "#tests/support/turns.ts";
import type { Site } from "./frame-support.ts";
import { onSite, openPage, serve, visit } from "./frame-support.ts";

let site: Site;
onSite((opened) => {
  site = opened;
});

it("the offline page leads only to pages of the product", async () => {
  const { page } = await openPage(site);
  const left: string[] = [];
  page.on("request", (request) => {
    if (request.isNavigationRequest() && !request.url().startsWith(site.address)) left.push(request.url());
  });
  for (const address of ["/%09/elsewhere.example/", "//elsewhere.example/", "/%5Celsewhere.example/"]) {
    await visit(page, `${site.address}/offline?page=${address}`);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Saved for offline");
  }
  // Before it leaves, the page would first ask the server.
  await page.waitForTimeout(1_000);
  expect(left).toEqual([]);
});

it("a fragment that can't be decoded leaves the page as it is", async () => {
  const { page, complaints } = await openPage(site);
  await visit(page, `${site.address}/about#100%`);
  await page.waitForFunction(() => document.documentElement.dataset.live === "");
  await expect.poll(() => page.getByRole("heading", { level: 1 }).textContent()).not.toBe("This page could not be shown");
  expect(complaints).toEqual([]);
});

it("an address with a line break in it is not found, like any other that does not exist", async () => {
  const { page, complaints } = await openPage(site);
  for (const address of ["/a%0Ab", "/%E2%80%A8", "/blog/a%0Db"]) {
    await visit(page, site.address + address);
    expect(await page.getByRole("heading", { level: 1 }).textContent(), address).toBe("Page not found");
  }
  expect(complaints).toEqual([]);
});

it.runIf(hasTurn("workers", "refused"))(
  "a page that the server refuses is not reloaded again and again, and opens when the server sends it",
  async () => {
    let refusing = false;
    let refused = 0;
    const own = await serve(site.folder, {
      async onRequest(request, reply) {
        if (!refusing || !request.url.startsWith("/marketing")) return;
        refused += 1;
        await reply.code(500).send("broken");
      },
    });
    onTestFinished(() => own.close());
    const { page } = await openPage(site, { serviceWorkers: "allow", fresh: true });
    await visit(page, own.address);
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    refusing = true;
    await page.goto(`${own.address}/marketing`);
    await page.getByRole("heading", { level: 1, name: "is not on this device" }).waitFor();
    // Long enough for many reloads.
    await page.waitForTimeout(3_000);
    // The navigation itself and one check by the page it led to.
    expect(refused).toBeLessThanOrEqual(2);
    refusing = false;
    await page.waitForURL(`${own.address}/marketing`);
  },
);

it("a page that the server refuses once, while the product is kept for offline reading, is asked for again", async () => {
  let refused = 0;
  const own = await serve(site.folder, {
    async onRequest(request, reply) {
      if (refused > 0 || !request.url.startsWith("/contact?lang=")) return;
      refused += 1;
      await reply.code(503).send("busy");
    },
  });
  onTestFinished(() => own.close());
  const { page } = await openPage(site, { serviceWorkers: "allow", fresh: true });
  await visit(page, own.address);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  expect(refused).toBe(1);
});
