/** Taps and input on a prerendered page before its scripts have loaded. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { Site } from "./frame-support.ts";
import { onSite, openPage } from "./frame-support.ts";

let site: Site;
onSite((opened) => {
  site = opened;
});

/** Opens a page whose scripts, except for the boot file, load only after `letIn` is called. */
async function openEarly(path: string): Promise<{ page: Page; complaints: string[]; letIn: () => void }> {
  const opened = await openPage(site, { viewport: { width: 390, height: 844 }, fresh: true });
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
  });

  it("submits what was typed although Enter is pressed in the moment of hydration", async () => {
    const { page, letIn } = await openEarly("/auth");
    // A key that was pressed while the page was busy with hydration is the browser's next task, before any timer.
    await page.evaluate(() => {
      const submit = () => document.querySelector<HTMLButtonElement>("form [type=submit]")?.click();
      const observer = new MutationObserver(() => window.scheduler.postTask(submit, { priority: "user-blocking" }));
      observer.observe(document.documentElement, { attributeFilter: ["data-live"] });
    });
    await page.getByLabel("Email", { exact: true }).fill("ada@example.com");
    await page.getByLabel("Password", { exact: true }).fill("a tessera 4 ada");
    const [asked] = await Promise.all([page.waitForRequest("**/api/auth/sign-in"), letIn()]);
    expect(asked.postDataJSON()).toEqual({ email: "ada@example.com", password: "a tessera 4 ada" });
  });

  it("does what a tap asks for once, although it comes when hydration has begun", async () => {
    const { page, letIn } = await openEarly("/auth");
    await page.evaluate(() => {
      const root = document.querySelector("#root");
      const { port1, port2 } = new MessageChannel();
      // Asks between all tasks of the page whether React has the root, and hydrates it in one of the next.
      port1.onmessage = () => {
        if (!Object.keys(root ?? {}).some((key) => key.startsWith("__reactContainer"))) port2.postMessage(0);
        else if (!("live" in document.documentElement.dataset))
          document.querySelector<HTMLButtonElement>("form button[aria-pressed]")?.click();
      };
      port2.postMessage(0);
    });
    const shown = page.locator("[name=password][type=text]").waitFor();
    letIn();
    await shown;
    await page.locator("html[data-live]").waitFor({ state: "attached" });
    expect(await page.locator("[name=password]").getAttribute("type")).toBe("text");
  });
});
