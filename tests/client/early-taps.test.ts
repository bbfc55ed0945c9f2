/** Taps and input on a prerendered page before its scripts have loaded. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Site } from "./frame-support.ts";
import { openPage, openSite } from "./frame-support.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
}, 120_000);
afterAll(() => site?.close());

/** Opens a page whose scripts, except for the boot file, load only after `letIn` is called. */
async function openEarly(path: string): Promise<{ page: Page; complaints: string[]; letIn: () => void }> {
  const opened = await openPage(site, { viewport: { width: 390, height: 844 } });
  const { promise: allowed, resolve: letIn } = Promise.withResolvers<void>();
  await opened.page.route(/\/assets\/(?!boot-).*\.js$/, async (route) => {
    await allowed;
    await route.continue();
  });
  await opened.page.goto(site.address + path, { waitUntil: "commit" });
  await opened.page.waitForSelector("main h1");
  return { ...opened, letIn };
}

describe("a prerendered page that is not hydrated yet", () => {
  it("opens the menu after hydration if it was tapped before", async () => {
    const { page, complaints, letIn } = await openEarly("/pricing");
    await page.getByRole("button", { name: "Open menu" }).click();
    letIn();
    await page.getByRole("dialog", { name: "Menu" }).waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it("puts no typed value into its address, and submits the form after hydration", async () => {
    const { page, letIn } = await openEarly("/auth");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await page.getByLabel("Email", { exact: true }).fill("ada@example.com");
    await page.getByLabel("Password", { exact: true }).fill("a tessera 4 ada");
    await page.keyboard.press("Enter");
    expect(page.url()).toBe(`${site.address}/auth`);
    letIn();
    await expect.poll(() => asked).toContain("POST /api/auth/sign-in");
    expect(page.url()).toBe(`${site.address}/auth`);
    await page.context().close();
  });
});
