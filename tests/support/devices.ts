/**
 * Lends pages to tests. A page that has fetched and compiled the client before loads it in less than half of the CPU time that a new
 * context needs. So a page goes from test to test, and in between everything is removed that a site can keep on a device.
 */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

interface Device {
  page: Page;
  /** Pages with the same options take each other's place. */
  kind: string;
  /** Removes the script that the page was lent with. */
  signOut: () => Promise<void>;
}

export interface DeviceOptions extends BrowserContextOptions {
  /** Kept in the local storage, so that the page starts signed in. */
  session?: string;
  /**
   * A new context. For tests that install a clock, add scripts of their own or emulate media, since these can't be taken back, and for
   * those that count, hold or abort requests for assets, which a used page has in its memory.
   */
  fresh?: boolean;
  /** Nobody touches the page, so it leaves its late parts for a few seconds (client/lib/until-idle.ts). */
  untouched?: boolean;
}

/** Simulates a reader's first sign, for which late parts wait, again and again until the page listens for it. */
const reader = `addEventListener("load", () => {
  let signsAfterLive = 40;
  const signs = setInterval(() => {
    dispatchEvent(new Event("scroll"));
    if (document.documentElement.hasAttribute("data-live")) signsAfterLive -= 1;
    if (signsAfterLive === 0) clearInterval(signs);
  }, 100);
});`;

const usualViewport = { width: 1280, height: 720 };

/**
 * Removes what the browser has of `origin`. First the page leaves for a document of the site without scripts: it may keep something as
 * it is left, and for another site the browser would start a new process.
 */
async function empty(page: Page, origin: string): Promise<void> {
  const context = page.context();
  for (const other of context.pages()) if (other !== page) await other.close();
  await Promise.all([page.unrouteAll({ behavior: "ignoreErrors" }), context.unrouteAll({ behavior: "ignoreErrors" })]);
  await context.setOffline(false);
  await page.goto(`${origin}/robots.txt`);
  await context.clearCookies();
  const devTools = await context.newCDPSession(page);
  await devTools.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
  await page.mouse.move(0, 0);
  await devTools.send("Page.resetNavigationHistory");
  await devTools.detach();
}

/** Keeps the session before the page's own scripts run, unless the page has one already. */
const keeping = (session: string) =>
  `if (location.origin !== "null" && !localStorage.getItem("session")) localStorage.setItem("session", ${JSON.stringify(session)});`;

export class Devices {
  readonly #browser: Browser;
  readonly #origin: string;
  #free: Device[] = [];
  readonly #lent: Device[] = [];
  readonly #opened: BrowserContext[] = [];

  constructor(browser: Browser, origin: string) {
    this.#browser = browser;
    this.#origin = origin;
  }

  async #create({ untouched = false, ...options }: Omit<DeviceOptions, "fresh" | "session">): Promise<BrowserContext> {
    const context = await this.#browser.newContext(options);
    if (!untouched) await context.addInitScript({ content: reader });
    return context;
  }

  /** A new browser context. */
  async open({ session, ...options }: Omit<DeviceOptions, "fresh"> = {}): Promise<BrowserContext> {
    const context = await this.#create(options);
    this.#opened.push(context);
    if (session !== undefined) await context.addInitScript({ content: keeping(session) });
    return context;
  }

  /** A page on a device that has nothing of the site, except for `session`. */
  async lend({ fresh = false, ...wanted }: DeviceOptions = {}): Promise<Page> {
    if (fresh) return (await this.open(wanted)).newPage();
    const { session, ...options } = wanted;
    const { viewport, ...others } = options;
    const kind = JSON.stringify(viewport === null ? options : others);
    const used = this.#free.find((device) => device.kind === kind)?.page;
    this.#free = this.#free.filter(({ page }) => page !== used);
    const page = used ?? (await (await this.#create(options)).newPage());
    if (used && options.viewport !== null) await page.setViewportSize(options.viewport ?? usualViewport);
    const script = session === undefined ? undefined : await page.context().addInitScript({ content: keeping(session) });
    this.#lent.push({ page, kind, signOut: async () => script?.dispose() });
    return page;
  }

  /** Closes new contexts and empties the other devices for the next test. Those that a test has closed are not lent again. */
  async takeBack(): Promise<void> {
    for (const context of this.#opened.splice(0)) await context.close();
    for (const device of this.#lent.splice(0)) {
      if (device.page.isClosed()) continue;
      await device.signOut();
      await empty(device.page, this.#origin);
      this.#free.push(device);
    }
  }
}
