/** Helpers for the browser tests: a product behind a connection that can be cut, and signed-in pages. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { inject } from "vitest";
import texts from "#client/i18n/locales/en/order.json" with { type: "json" };
import type { Db } from "#server/db/database.ts";
import { sharedBrowser } from "#tests/support/browser.ts";
import { Devices } from "#tests/support/devices.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import { rest, wake } from "#tests/support/rest.ts";
import type { Product } from "#tests/support/supervised.ts";
import { createProductFolder } from "#tests/support/supervised.ts";
import type { TcpProxy } from "#tests/support/tcp-proxy.ts";
import { startTcpProxy } from "#tests/support/tcp-proxy.ts";
import { Visitor } from "#tests/support/visitor.ts";

export interface Stage {
  product: Product;
  db: Db;
  asOwner: TestDatabase["asOwner"];
  browser: Browser;
  devices: Devices;
  /** The product's public address, which is that of `line`. */
  url: string;
  line: TcpProxy;
  /** Creates a person; with a plan if `subscribed`. */
  person(subscribed: boolean): Promise<Visitor>;
  close(): Promise<void>;
}

const startTimeoutMs = 120_000;
/** The sandbox starts with this pace. */
const usualPaceMs = 12;

interface SharedProduct {
  product: Product;
  database: TestDatabase;
  line: TcpProxy;
  browser: Browser;
  devices: Devices;
}

/** On `globalThis`, because each test file has its own copy of this module. */
const shared = globalThis as { stageProduct?: Promise<SharedProduct> };

/** Nobody tells this process that it has executed its last file: the test run's teardown ends the product, and the browser ends with it. */
async function startSharedProduct(): Promise<SharedProduct> {
  const database = await createTestDatabase(1);
  const folder = await createProductFolder({ database, in: inject("postgres").productsFolder });
  const line = await startTcpProxy({ host: "127.0.0.1", port: folder.port });
  const product = folder.start({ PUBLIC_URL: `http://127.0.0.1:${line.port}` });
  const [browser] = await Promise.all([sharedBrowser(), product.said("Sandbox", startTimeoutMs)]);
  return { product, database, line, browser, devices: new Devices(browser, `http://127.0.0.1:${line.port}`) };
}

/**
 * A product and a browser that all files share which this process executes one after the other, because a start costs as much as
 * several tests. What one file could notice of another is reset: counted attempts, the models' pace and faults, and open devices. Between
 * the files it rests.
 */
export async function setStage(): Promise<Stage> {
  shared.stageProduct ??= startSharedProduct();
  const { product, database, line, browser, devices } = await shared.stageProduct;
  await wake(product);
  await database.db.deleteFrom("auth_attempts").execute();
  const stage: Stage = {
    product,
    db: database.db,
    asOwner: database.asOwner,
    browser,
    devices,
    url: `http://127.0.0.1:${line.port}`,
    line,
    async person(subscribed) {
      const visitor = await new Visitor(product.url, product.sandboxUrl).join();
      if (subscribed) await visitor.subscribe();
      return visitor;
    },
    async close() {
      await devices.takeBack();
      await order(stage, "/models/pace", { paceMs: usualPaceMs });
      await order(stage, "/models/fault", { model: "*", fault: null });
      await rest(product, database);
    },
  };
  return stage;
}

/** All devices but those of the tests of the service worker, which would fetch the whole shell for each. */
const usualDevice = { serviceWorkers: "block", reducedMotion: "reduce", locale: "en-GB", viewport: { width: 1440, height: 900 } } as const;

function deviceOptions(visitor: Visitor | undefined, options: BrowserContextOptions) {
  const session = visitor?.session ? { session: JSON.stringify(visitor.session) } : {};
  return { ...usualDevice, ...session, ...options };
}

/**
 * A page on a device of its own in which `visitor`, if given, is signed in; nothing is there of the tests before. Other pages of its
 * context are on the same device. `stage.devices.takeBack()`, after each test, ends its use.
 */
export function pageOf(stage: Stage, visitor?: Visitor, options: BrowserContextOptions = {}): Promise<Page> {
  return stage.devices.lend(deviceOptions(visitor, options));
}

/** A new browser context, for tests that change it in a way that can't be taken back, such as with a script or a clock. */
export function deviceOf(stage: Stage, visitor?: Visitor, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  return stage.devices.open(deviceOptions(visitor, options));
}

/** Posts a setting to the sandbox, such as the pace of its models or a fault. */
export async function order(stage: { product: Pick<Product, "sandboxUrl"> }, path: string, body: unknown): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(new URL(path, stage.product.sandboxUrl), { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`POST ${path} → ${response.status}: ${await response.text()}`);
}

const slowestPaceMs = 10_000;

/** Holds all answers where they are, so that what follows happens in the middle of one, however busy the machine is. */
export function hold(stage: { product: Pick<Product, "sandboxUrl"> }): Promise<void> {
  return order(stage, "/models/pace", { paceMs: slowestPaceMs });
}

/** Agrees in the order's dialog, and goes to the payment page. */
export async function placeOrder(page: Page): Promise<void> {
  await page.getByRole("checkbox", { name: /^Begin at once/ }).check();
  await page.getByRole("button", { name: texts.confirm }).click();
}

/** Opens a new conversation and sends `prompt` to GPT-6 Luna. */
export async function ask(page: Page, stage: Stage, prompt: string): Promise<void> {
  await page.goto(`${stage.url}/ai-models?model=gpt-6-luna`);
  await page.getByLabel("Your prompt").fill(prompt);
  await page.getByText("This answer costs 1 credit").waitFor();
  await page.keyboard.press("Enter");
}
