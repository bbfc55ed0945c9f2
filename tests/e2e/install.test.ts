import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { chromium } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "#server/embedded/processes.ts";
import { wholeBrowserOptions } from "#tests/support/browser.ts";
import { full } from "#tests/support/full.ts";
import { openKept } from "./kept-support.ts";
import type { Stage } from "./support.ts";
import { deviceOf, setStage } from "./support.ts";

interface Manifest {
  id: string;
  scope: string;
  start_url: string;
  display: string;
  display_override: string[];
  launch_handler: unknown;
  icons: { src: string; sizes: string; purpose: string }[];
  shortcuts: { url: string; icons: { src: string; sizes: string }[] }[];
  screenshots: { src: string; sizes: string; form_factor: string; label: string }[];
}

/** The width and height in a PNG's header. */
async function sizeOfPicture(address: string): Promise<string> {
  const response = await fetch(address);
  expect(response.headers.get("content-type"), address).toBe("image/png");
  const bytes = Buffer.from(await response.arrayBuffer());
  return `${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`;
}

/** A proxy to the product that records the requested addresses. */
async function watchRequests(target: string): Promise<{ url: string; asked: string[]; close(): Promise<void> }> {
  const asked: string[] = [];
  const server = createServer((incoming, answer) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const { method = "GET", url = "/", headers } = incoming;
    const onward = request(new URL(url, target), { method, headers }, (found) => {
      answer.writeHead(found.statusCode ?? 502, found.headers);
      found.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    incoming.pipe(onward);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, asked, close };
}

const iPhone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
const iPhoneChrome =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/138.0.7204.53 Mobile/15E148 Safari/604.1";

describe("installing the app", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
  }, 150_000);
  afterEach(() => stage?.devices.takeBack());
  afterAll(() => stage?.close());

  const installButton = (page: Page) => page.getByRole("contentinfo").getByRole("button", { name: "Install the app" });

  async function open(options: BrowserContextOptions = {}, script = ""): Promise<Page> {
    const device = await deviceOf(stage, undefined, options);
    await device.addInitScript(script);
    const page = await device.newPage();
    await page.goto(stage.url);
    await page.waitForSelector("html[data-live]");
    return page;
  }

  function phone(userAgent: string, script?: string): Promise<Page> {
    return open({ userAgent, viewport: { width: 390, height: 844 }, hasTouch: true }, script);
  }

  it("passes the browser's own check, without an error in the manifest", async () => {
    // A whole browser with a profile on disk: browsers don't install apps from a private one.
    const profile = await mkdtemp(path.join(tmpdir(), "tessera-test-profile-"));
    const device = await chromium.launchPersistentContext(profile, { ...wholeBrowserOptions(), locale: "en-GB" });
    onTestFinished(async () => {
      await device.close();
      await rm(profile, { recursive: true, force: true });
    });
    const page = await openKept(device, stage.url, "en");
    const devTools = await device.newCDPSession(page);
    const { installabilityErrors } = await devTools.send("Page.getInstallabilityErrors");
    expect(installabilityErrors).toEqual([]);
    const { errors, data } = await devTools.send("Page.getAppManifest");
    expect(errors).toEqual([]);
    const manifest = JSON.parse(data ?? "{}") as Manifest;
    expect(manifest).toMatchObject({ id: "/", scope: "/", start_url: "/", display: "standalone" });
    expect(manifest.display_override).toContain("standalone");
    expect(manifest.launch_handler).toBeDefined();
    expect(manifest.icons.filter(({ purpose }) => purpose === "maskable").map(({ sizes }) => sizes)).toEqual(["192x192", "512x512"]);
    expect(new Set(manifest.screenshots.map(({ form_factor }) => form_factor))).toEqual(new Set(["wide", "narrow"]));
    for (const { src, sizes } of [...manifest.icons, ...manifest.screenshots, ...manifest.shortcuts.flatMap(({ icons }) => icons)]) {
      expect(await sizeOfPicture(stage.url + src), src).toBe(sizes);
    }
    for (const { url } of manifest.shortcuts) expect((await fetch(stage.url + url)).status, url).toBe(200);
  });

  it("is offered if the browser offers it, and no longer once it is installed", async () => {
    const page = await open();
    // A headless browser never sends this event by itself.
    await page.evaluate(`(() => {
      const offer = new Event("beforeinstallprompt", { cancelable: true });
      offer.prompt = () => { globalThis.prompted = true; return Promise.resolve({ outcome: "accepted" }); };
      dispatchEvent(offer);
    })()`);
    await installButton(page).click();
    expect(await page.evaluate("globalThis.prompted")).toBe(true);
    await expect.poll(() => installButton(page).count()).toBe(0);

    await page.evaluate(`(() => {
      const offer = new Event("beforeinstallprompt", { cancelable: true });
      offer.prompt = () => Promise.resolve({ outcome: "dismissed" });
      dispatchEvent(offer);
    })()`);
    await installButton(page).waitFor();
    await page.evaluate(`dispatchEvent(new Event("appinstalled"))`);
    await expect.poll(() => installButton(page).count()).toBe(0);
  });

  it.runIf(full)("is offered even if the browser's offer comes before the page's scripts", async () => {
    const page = await open(
      {},
      `addEventListener("DOMContentLoaded", () => {
      const offer = new Event("beforeinstallprompt", { cancelable: true });
      offer.prompt = () => Promise.resolve({ outcome: "dismissed" });
      dispatchEvent(offer);
      globalThis.shownByBrowser = !offer.defaultPrevented;
    }, { once: true })`,
    );
    await installButton(page).waitFor();
    expect(await page.evaluate("globalThis.shownByBrowser")).toBe(false);
  });

  it("is explained on an iPhone in the words of each browser", async () => {
    for (const [userAgent, step] of [
      [iPhone, "in Safari’s toolbar"],
      [iPhoneChrome, "beside the address"],
    ] as const) {
      const page = await phone(userAgent);
      await installButton(page).click();
      const sheet = page.getByRole("dialog", { name: "Add Tessera to your Home Screen" });
      await sheet.getByText(step).waitFor();
      await sheet.getByText("Add to Home Screen", { exact: false }).last().waitFor();
      await sheet.getByRole("button", { name: "Done" }).click();
      await sheet.waitFor({ state: "hidden" });
      if (userAgent === iPhoneChrome) continue;
      await page.getByRole("button", { name: "Open menu" }).click();
      const menu = page.getByRole("dialog", { name: "Menu" });
      await menu.getByRole("button", { name: "Install the app" }).click();
      await sheet.waitFor();
      await page.keyboard.press("Escape");
      await menu.getByRole("button", { name: "Install the app" }).waitFor();
    }
  });

  it.runIf(full)("is not explained in the installed app on an iPhone", async () => {
    const page = await phone(iPhone, `Object.defineProperty(navigator, "standalone", { value: true })`);
    await page.getByRole("contentinfo").getByRole("link", { name: "Saved for offline" }).waitFor();
    await page.waitForTimeout(2_000);
    expect(await installButton(page).count()).toBe(0);
  });

  it("lets another app share a text and files, which become a prompt and are not sent to the server in the address", async () => {
    const watched = await watchRequests(stage.product.url);
    const device = await deviceOf(stage, undefined, { serviceWorkers: "allow" });
    const page = await openKept(device, watched.url, "en");
    await page.evaluate(`(() => {
      const form = document.createElement("form");
      form.method = "POST";
      form.action = "/share";
      form.enctype = "multipart/form-data";
      for (const [name, value] of [["title", "Mosaics"], ["text", "Mosaics of Ravenna"], ["url", "https://example.com/ravenna"]]) {
        const field = document.createElement("input");
        field.name = name;
        field.value = value;
        form.append(field);
      }
      const field = document.createElement("input");
      const files = new DataTransfer();
      files.items.add(new File(["words about mosaics"], "notes.txt", { type: "text/plain" }));
      Object.assign(field, { type: "file", name: "files", files: files.files });
      form.append(field);
      document.body.append(form);
      form.submit();
    })()`);
    await page.waitForURL((url) => url.pathname === "/ai-models");
    expect(new URL(page.url()).searchParams.get("prompt")).toBe("Mosaics of Ravenna\nhttps://example.com/ravenna");
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    const kept = `caches.open("shared-files").then(async (cache) => (await cache.match((await cache.keys())[0])).text())`;
    expect(await page.evaluate(kept)).toBe("words about mosaics");
    expect(watched.asked).toContain("GET /ai-models?prompt=");
    expect(watched.asked.filter((line) => line.includes("Ravenna"))).toEqual([]);
    await watched.close();
  });
});
