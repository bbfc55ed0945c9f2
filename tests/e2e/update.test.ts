import { appendFile, cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "#tests/support/sources.ts";
import { keptAddresses, keptConversations, openKept } from "./kept-support.ts";
import type { Frontage } from "./releases-support.ts";
import { openFrontage, releaseOver } from "./releases-support.ts";
import type { Stage } from "./support.ts";
import { order, setStage } from "./support.ts";

const oldWords = "Nothing you have open is interrupted.";
const offer = "A new version is ready";
const footerBefore = "Saved for offline";
const footerAfter = "Kept on this device";

/** Counts the page's loads from now on. */
function countLoads(page: Page): { count: number } {
  const loads = { count: 0 };
  page.on("load", () => (loads.count += 1));
  return loads;
}

const askForUpdate = (page: Page) =>
  page.evaluate("navigator.serviceWorker.getRegistration().then((found) => found.update()).then(() => undefined)");

const footer = (page: Page) => page.getByRole("contentinfo");

describe("a new release while tabs are open", () => {
  let stage: Stage;
  let frontage: Frontage;
  let site = "";
  let device: BrowserContext;

  beforeAll(async () => {
    stage = await setStage();
    site = await mkdtemp(path.join(tmpdir(), "tessera-test-site-"));
    await cp(path.join(root, "client/dist"), site, { recursive: true });
    const visitor = await stage.person(true);
    await order(stage, "/models/pace", { paceMs: 800 });
    // The product's public address leads to the releases that are deployed here, and on to its API.
    await stage.line.cut();
    frontage = await openFrontage(stage.line.port, stage.product.url);
    await frontage.deploy(site);
    device = await stage.browser.newContext({ locale: "en-GB", viewport: { width: 1280, height: 900 } });
    await device.addInitScript((session) => {
      if (!localStorage.getItem("session") && !localStorage.getItem("signedOut")) localStorage.setItem("session", session);
    }, JSON.stringify(visitor.session));
  }, 180_000);
  afterAll(async () => {
    await device?.close();
    if (frontage) {
      await frontage.close();
      await stage.line.mend();
    }
    await stage?.close();
    await rm(site, { recursive: true, force: true });
  });

  it("is offered, applied with one reload, and reaches a tab with a running answer or a half-written form only when that has ended", async () => {
    const idle = await openKept(device, `${frontage.url}/pricing`, "en");
    const writing = await openKept(device, `${frontage.url}/contact`, "en");
    const answering = await openKept(device, `${frontage.url}/ai-models?model=gpt-6-luna`, "en");
    await writing.getByLabel("Message").fill("A message that is not finished");
    await answering.getByLabel("Your prompt").fill("A detailed answer about mosaics, please");
    await answering.getByText("This answer costs 1 credit").waitFor();

    await releaseOver(
      site,
      new Map([
        [footerBefore, footerAfter],
        [oldWords, "Your work is kept."],
      ]),
    );
    await frontage.deploy(site);

    await answering.keyboard.press("Enter");
    await answering.getByText("Sandbox answer").first().waitFor();
    const loads = [idle, writing, answering].map(countLoads);
    await askForUpdate(idle);
    await idle.getByText(offer).waitFor();
    expect(loads.map(({ count }) => count)).toEqual([0, 0, 0]);
    expect(await writing.getByText(offer).count()).toBe(0);
    expect(await answering.getByText(offer).count()).toBe(0);

    await idle.getByRole("button", { name: "Reload now" }).click();
    await expect.poll(() => loads[0]?.count).toBe(1);
    await footer(idle).getByText(footerAfter).waitFor();
    expect(loads.map(({ count }) => count)).toEqual([1, 0, 0]);
    // The other tabs' release stays in the cache.
    expect((await cacheNames(idle)).filter((name) => name.startsWith("assets-"))).toHaveLength(2);

    // The answer still streams; stop it.
    await answering.getByRole("button", { name: "Stop" }).click();
    await expect.poll(() => loads[2]?.count).toBe(1);
    await footer(writing).getByText(footerBefore).waitFor();
    expect(loads[1]?.count).toBe(0);
    await writing.getByLabel("Message").fill("");
    await expect.poll(() => loads[1]?.count).toBe(1);
    await footer(writing).getByText(footerAfter).waitFor();

    // After one more page load nothing of the old release is left.
    await idle.goto(frontage.url);
    await expect.poll(async () => (await cacheNames(idle)).filter((name) => /^(assets|pages)-/.test(name))).toHaveLength(2);
    expect(loads.map(({ count }) => count)).toEqual([2, 1, 1]);
    await expect.poll(() => answering.getByText("Sandbox answer").count()).toBeGreaterThan(0);
    for (const page of [idle, writing, answering]) await page.close();
  }, 240_000);

  it("delays an accepted reload while a form is half-written", async () => {
    const page = await openKept(device, `${frontage.url}/contact`, "en");
    await changeWorker(site, "// the next release");
    await askForUpdate(page);
    await page.getByText(offer).waitFor();
    const loads = countLoads(page);
    await page.getByLabel("Message").fill("Begun after the offer");
    await page.getByRole("button", { name: "Reload now" }).click();
    await page.getByText("The new version loads as soon as").waitFor();
    await page.waitForTimeout(1_500);
    expect(loads.count).toBe(0);
    await page.getByLabel("Message").fill("");
    await expect.poll(() => loads.count).toBe(1);
    await page.waitForTimeout(1_000);
    expect(loads.count).toBe(1);
    await page.close();
  });

  it("a missing chunk causes one reload, then a page that says so", async () => {
    const page = await openKept(device, frontage.url, "en");
    const [chunk] = (await readdir(path.join(site, "assets"))).filter((file) => /^about-.*\.js$/.test(file));
    for (const place of ["assets", "kept/assets"]) {
      for (const ending of ["", ".br", ".gz"]) await rm(path.join(site, place, `${chunk}${ending}`), { force: true });
    }
    await page.evaluate(
      `caches.keys().then((names) => Promise.all(names.map(async (name) => (await caches.open(name)).delete("/assets/${chunk}"))))`,
    );
    const devTools = await device.newCDPSession(page);
    await devTools.send("Network.clearBrowserCache");
    const loads = countLoads(page);
    await page.evaluate(`history.pushState(null, "", "/about")`);
    await page.getByRole("heading", { level: 1, name: "This page could not be shown" }).waitFor();
    expect(loads.count).toBe(1);
    await page.waitForTimeout(1_000);
    expect(loads.count).toBe(1);
    await page.close();
  });

  it("sign-out leaves no response of the API and no conversation on the device", async () => {
    const page = await openKept(device, `${frontage.url}/profile`, "en");
    await expect.poll(() => keptConversations(page)).toBe(1);
    await page.evaluate(`localStorage.setItem("signedOut", "yes")`);
    // Another app leaves a picture for the chat like this.
    await page.evaluate("caches.open('shared-files').then((cache) => cache.put('/shared/1', new Response('a picture')))");
    const ended = page.waitForResponse((answer) => new URL(answer.url()).pathname === "/api/auth/sign-out");
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    expect(await (await ended).headerValue("clear-site-data")).toBe('"cache"');
    await expect.poll(() => keptConversations(page)).toBe(0);
    await expect.poll(() => cacheNames(page)).not.toContain("shared-files");
    const kept = await keptAddresses(page);
    expect(kept).toContain("/pricing?lang=en");
    expect(kept.filter((address) => address.startsWith("/api"))).toEqual([]);
    await page.close();
  });
});

async function cacheNames(page: Page): Promise<string[]> {
  return page.evaluate<string[]>("caches.keys()");
}

/** Appends a line to the service worker, the one file that browsers compare. */
async function changeWorker(site: string, line: string): Promise<void> {
  await appendFile(path.join(site, "service-worker.js"), `\n${line}\n`);
  for (const ending of [".br", ".gz"]) await rm(path.join(site, `service-worker.js${ending}`), { force: true });
}
