/** A walk through the product on one device in one language, on which every step is looked at. */
import type { Browser, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { Session } from "#contract/auth/sign-in.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { coveredControls } from "#tests/support/in-reach.ts";
import { photograph } from "#tests/support/photographs.ts";
import type { Product } from "#tests/support/supervised.ts";
import { Visitor } from "#tests/support/visitor.ts";
import type { Words } from "#tests/support/words.ts";
import { wordsIn } from "#tests/support/words.ts";

const devices = {
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  desktop: { viewport: { width: 1440, height: 900 } },
} as const;

export type Device = keyof typeof devices;

/** What the browser itself writes when a request gets no answer or a refusal that the page shows: a cut line, too few credits. */
const expectedFaults =
  /^Failed to load resource: (net::ERR_INTERNET_DISCONNECTED|the server responded with a status of 402)|^WebSocket connection to .*ERR_INTERNET_DISCONNECTED/;

interface Beginning {
  browser: Browser;
  product: Pick<Product, "url" | "sandboxUrl">;
  device: Device;
  language: LanguageCode;
  /** Who is signed in from the start, without a service worker: a short walk does not fetch the whole shell. */
  session?: Session;
  /** What the names of its pictures begin with. */
  name?: string;
}

export class Walk {
  readonly page: Page;
  readonly words: Words;
  readonly language: LanguageCode;
  readonly product: Beginning["product"];
  readonly #name: string;
  readonly #faults: string[] = [];
  #steps = 0;

  private constructor(page: Page, words: Words, { product, device, language, name }: Beginning) {
    this.page = page;
    this.words = words;
    this.language = language;
    this.product = product;
    this.#name = name === undefined ? `${device}-${language}` : `${name}-${device}-${language}`;
    this.#watch(page);
  }

  static async begin(beginning: Beginning): Promise<Walk> {
    const { browser, device, language, session } = beginning;
    const options = { ...devices[device], locale: language, reducedMotion: "reduce" } as const;
    const context = await browser.newContext(session ? { ...options, serviceWorkers: "block" } : options);
    if (session) await context.addInitScript(`localStorage.setItem("session", ${JSON.stringify(JSON.stringify(session))})`);
    return new Walk(await context.newPage(), await wordsIn(language), beginning);
  }

  /** Errors in the console and uncaught exceptions fail the walk. */
  #watch(page: Page): void {
    page.on("console", (message) => {
      if (message.type() === "error" && !expectedFaults.test(message.text())) this.#faults.push(message.text());
    });
    page.on("pageerror", (error) => this.#faults.push(String(error)));
  }

  async secondPage(path: string): Promise<Page> {
    const page = await this.page.context().newPage();
    this.#watch(page);
    await page.goto(this.product.url + path);
    return page;
  }

  /** Sets `window.seen` if a page shows the text, even for one frame. */
  async watchFor(text: string): Promise<void> {
    await this.page.addInitScript(`
      window.seen = false;
      new MutationObserver(() => {
        window.seen ||= document.body?.textContent.includes(${JSON.stringify(text)}) ?? false;
      }).observe(document, { childList: true, subtree: true, characterData: true });
    `);
  }

  /** Nothing covers a control, each of the `waysOn` is there and enabled, and nothing has gone wrong. */
  readonly step = async (name: string, ...waysOn: Locator[]): Promise<void> => {
    for (const way of waysOn) {
      await way.waitFor();
      await expect.poll(() => way.isEnabled(), { message: name }).toBe(true);
    }
    this.#steps += 1;
    await photograph(this.page, `${this.#name}-${String(this.#steps).padStart(2, "0")}-${name}`);
    // Polls for ten seconds, because things may still be moving, and a toast that covers something disappears after seven.
    await expect.poll(() => coveredControls(this.page, "form:has([name=prompt])"), { message: name, timeout: 10_000 }).toEqual([]);
    expect(this.#faults, name).toEqual([]);
  };

  /** Signs up by a link to it, and opens the mailed link, which leads to the plans. */
  async signUpBy(link: Locator): Promise<Visitor> {
    const { page } = this;
    const { say } = this.words;
    const visitor = new Visitor(this.product.url, this.product.sandboxUrl);
    await link.click();
    // It opens sign-up, not sign-in.
    await page.getByRole("heading", { name: say("auth:signUp.title") }).waitFor();
    await page.getByLabel(say("auth:email"), { exact: true }).fill(visitor.email);
    await page.getByLabel(say("auth:password"), { exact: true }).fill(visitor.password);
    const create = page.getByRole("button", { name: say("auth:signUp.submit"), exact: true });
    await this.step("sign-up", create);
    await create.click();
    await page.getByRole("heading", { name: say("steps:checkEmail.title") }).waitFor();
    await this.step("check-email", page.getByRole("button", { name: say("steps:checkEmail.back") }));
    await page.goto((await visitor.mailedLink("/auth")).href);
    await page.waitForURL("**/pricing");
    return visitor;
  }

  get prompt(): Locator {
    return this.page.getByRole("textbox", { name: this.words.say("chat:composer.label"), exact: true });
  }

  get sendButton(): Locator {
    return this.page.getByRole("button", { name: this.words.say("chat:composer.send"), exact: true });
  }

  /** Sends a prompt at the price that the composer shows. */
  readonly send = async (prompt: string, credits: number): Promise<void> => {
    await this.prompt.fill(prompt);
    await this.page.getByText(this.words.say("chat:composer.price", { credits: this.words.credits(credits) })).waitFor();
    await this.sendButton.click();
  };

  receipt(charged: number, left: number): Locator {
    // Exactly: in Japanese the number stands last, and what is left of 299 credits begins as what is left of 2.
    return this.page.getByText(this.words.say("chat:receipt.summary", { charged: this.words.credits(charged), left }), { exact: true });
  }

  /** The questions in the open conversation. */
  async said(): Promise<string[]> {
    return this.page.locator("article p[class*=prompt]").allTextContents();
  }

  /** The conversation has what it had `before`, and then these questions. */
  async saidAlso(before: readonly string[], ...since: string[]): Promise<void> {
    await expect.poll(() => this.said()).toEqual([...before, ...since]);
    for (const question of await this.page.locator("article p[class*=prompt]").all()) expect(await question.isVisible()).toBe(true);
  }

  /** The subscription as the server tells this page. */
  async check(): Promise<SubscriptionCheck> {
    return this.page.evaluate<SubscriptionCheck>(`(async () => {
      const { access_token: token } = JSON.parse(localStorage.getItem("session") ?? "{}");
      const headers = { authorization: "Bearer " + token, "content-type": "application/json" };
      const response = await fetch("/api/functions/reliable-subscription-check", { method: "POST", headers, body: "{}" });
      return response.json();
    })()`);
  }

  async userId(): Promise<string> {
    return this.page.evaluate<string>(`JSON.parse(localStorage.getItem("session")).user.id`);
  }

  async end(): Promise<void> {
    expect(this.#faults).toEqual([]);
    await this.page.context().close();
  }
}
