/** Serves the built client with the product's own headers and file serving, and opens it in a browser. */
import { pathToFileURL } from "node:url";
// For its types: it adds fields to the route schemas, which the file serving uses.
import type {} from "@fastify/swagger";
import type { FastifyReply, FastifyRequest } from "fastify";
import Fastify from "fastify";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import { registerSecurityHeaders } from "#server/http/security-headers.ts";
import { registerClient } from "#server/http/static.ts";
import { sharedBrowser } from "#tests/support/browser.ts";
import { buildClient, clientFolder } from "#tests/support/client-build.ts";
import type { DeviceOptions } from "#tests/support/devices.ts";
import { Devices } from "#tests/support/devices.ts";

export interface Site {
  address: string;
  /** The folder that is served. */
  folder: string;
  browser: Browser;
  devices: Devices;
}

/** Answers a call of the API. */
export type AnswerCall = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

interface Serving {
  /** Without it there is no API. */
  answerCall?: AnswerCall;
  /** Comes before everything else. */
  onRequest?: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

const clock = { now: () => new Date("2026-11-23T12:00:00Z") };

/** Serves a folder at a free port. */
export async function serve(
  folder: string,
  { answerCall, onRequest }: Serving = {},
): Promise<{ address: string; close: () => Promise<void> }> {
  const app = Fastify({ forceCloseConnections: true });
  if (onRequest) app.addHook("onRequest", onRequest);
  app.addContentTypeParser("application/octet-stream", { parseAs: "buffer" }, async (_request: FastifyRequest, body: Buffer) => body);
  if (answerCall) app.route({ method: ["GET", "POST", "PUT", "PATCH", "DELETE"], url: "/api/*", handler: answerCall });
  registerSecurityHeaders(app, { https: false });
  await registerClient(app as never, { publicUrl: new URL("https://tessera.example"), google: false, clock }, pathToFileURL(`${folder}/`));
  return { address: await app.listen({ host: "127.0.0.1", port: 0 }), close: () => app.close() };
}

interface SharedSite {
  site: Site;
  /** Answers the calls of the file that is executed now; none if its tests need no API. */
  answerCall?: AnswerCall | undefined;
}

/** On `globalThis`, because each test file has its own copy of this module. */
const shared = globalThis as { clientSite?: Promise<SharedSite> };

async function startSharedSite(): Promise<SharedSite> {
  await buildClient();
  const answerCall: AnswerCall = async (request, reply) => {
    const current = (await shared.clientSite)?.answerCall;
    return current ? current(request, reply) : reply.callNotFound();
  };
  const [{ address }, browser] = await Promise.all([serve(clientFolder, { answerCall }), sharedBrowser()]);
  return { site: { address, folder: clientFolder, browser, devices: new Devices(browser, address) } };
}

/**
 * Opens the site for the tests of a file; what pages they open is taken back after each. All files that this process executes one after
 * the other share server, browser and pages, because a page that has loaded the client before costs half.
 */
export function onSite(take: (site: Site) => void, answerCall?: AnswerCall): void {
  let opened: SharedSite | undefined;
  beforeAll(async () => {
    shared.clientSite ??= startSharedSite();
    opened = await shared.clientSite;
    opened.answerCall = answerCall;
    take(opened.site);
  }, 120_000);
  afterEach(() => opened?.site.devices.takeBack());
  afterAll(() => {
    if (opened) opened.answerCall = undefined;
  });
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
