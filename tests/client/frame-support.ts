/** Serves the built client with the product's own headers and file serving, and opens it in a browser. */
import { pathToFileURL } from "node:url";
// For its types: it adds fields to the route schemas, which the file serving uses.
import type {} from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import Fastify from "fastify";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import { registerSecurityHeaders } from "#server/http/security-headers.ts";
import { registerClient } from "#server/http/static.ts";
import { launchBrowser } from "#tests/support/browser.ts";
import { buildClient, clientFolder } from "#tests/support/client-build.ts";
import type { DeviceOptions } from "#tests/support/devices.ts";
import { Devices } from "#tests/support/devices.ts";

export interface Site {
  address: string;
  /** The folder that is served. */
  folder: string;
  browser: Browser;
  devices: Devices;
  close: () => Promise<void>;
}

/** Adds a test's own routes, such as an API. */
type AddRoutes = (app: FastifyInstance) => void;

export async function serve(folder: string, port = 0, addRoutes?: AddRoutes): Promise<{ address: string; close: () => Promise<void> }> {
  const app = Fastify({ forceCloseConnections: true });
  addRoutes?.(app);
  registerSecurityHeaders(app, { https: false });
  await registerClient(app as never, { publicUrl: new URL("https://tessera.example"), google: false }, pathToFileURL(`${folder}/`));
  return { address: await app.listen({ host: "127.0.0.1", port }), close: () => app.close() };
}

export async function openSite(addRoutes?: AddRoutes): Promise<Site> {
  await buildClient();
  const [server, browser] = await Promise.all([serve(clientFolder, 0, addRoutes), launchBrowser()]);
  return {
    address: server.address,
    folder: clientFolder,
    browser,
    devices: new Devices(browser, server.address),
    close: async () => {
      await browser.close();
      await server.close();
    },
  };
}

/** Opens the site for the tests of a file; what pages they open is taken back after each. */
export function onSite(take: (site: Site) => void, addRoutes?: AddRoutes): void {
  let site: Site | undefined;
  beforeAll(async () => {
    site = await openSite(addRoutes);
    take(site);
  }, 120_000);
  afterEach(() => site?.devices.takeBack());
  afterAll(() => site?.close());
}

/** Opens a page and collects the browser's errors and warnings, except for failed calls, because there is no API. */
export async function openPage(site: Site, options: DeviceOptions = {}): Promise<{ page: Page; complaints: string[] }> {
  const page = await site.devices.lend({ serviceWorkers: "block", reducedMotion: "reduce", ...options });
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    const expected = /Failed to load resource|service worker|Service Worker|admin/.test(message.text());
    if (["error", "warning"].includes(message.type()) && !expected) complaints.push(message.text());
  });
  return { page, complaints };
}

/** Opens an address and waits until its page is rendered and hydrated. */
export async function visit(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.waitForSelector("html[data-live] main h1");
}
