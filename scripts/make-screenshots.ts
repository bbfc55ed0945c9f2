/**
 * Takes the screenshots that browsers show before an installation. Start the product (`npm start`), then run
 * `node scripts/make-screenshots.ts [product] [sandbox]`; the default addresses are those of `npm start`. Run it when these
 * screens change, and commit the results. client/sw/manifest.ts names the files.
 */
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { chromium } from "playwright-core";
import type { OrderPreview } from "#contract/billing/orders.ts";

const [product = "http://127.0.0.1:3000", sandbox = "http://127.0.0.1:3001"] = process.argv.slice(2);
const folder = path.join(import.meta.dirname, "../client/public/screenshots");

const wide: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
const narrow: BrowserContextOptions = { viewport: { width: 375, height: 667 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const prompt = "Write a two-line sign for a bakery that opens at six.";
const reply =
  "**Fresh bread from six.**\n\n**Come in while it’s warm.**\n\nIf the sign is small, keep the first line alone: it says what you sell and when you open. Set the hour in figures where people read it from a car.";

async function post<Answer>(address: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${address} → ${response.status}: ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as Answer;
}

async function until<Value>(find: () => Promise<Value | undefined>): Promise<Value> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error("Timed out while waiting for the product.");
}

interface Session {
  access_token: string;
}

/** Creates a subscriber through the product's API and the sandbox's mail and checkout. */
async function subscriber(): Promise<Session> {
  const email = `picture-${randomUUID()}@example.com`;
  const password = "correct horse 9 battery";
  await post(`${product}/api/auth/sign-up`, { email, password });
  const token = await until(async () => {
    const mails = (await (await fetch(`${sandbox}/mail?to=${encodeURIComponent(email)}`)).json()) as { links: string[] }[];
    const link = mails.flatMap(({ links }) => links).find((candidate) => candidate.includes("confirm="));
    return link && new URL(link).searchParams.get("confirm");
  });
  const session = await post<Session>(`${product}/api/auth/confirm`, { token, password });
  const authorization = { authorization: `Bearer ${session.access_token}` };
  const priceId = "professional_month";
  const { amountCents, terms, withdrawal } = await post<OrderPreview>(`${product}/api/billing/order/preview`, { priceId }, authorization);
  const order = { priceId, consent: { amountCents, terms, withdrawal, language: "en", beginAtOnce: true } };
  const { url } = await post<{ url: string }>(`${product}/api/functions/create-checkout`, order, authorization);
  const checkout = new URL(url).pathname.split("/").at(-1);
  await fetch(`${sandbox}/checkout/${checkout}/pay`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ card: "success" }),
    redirect: "manual",
  });
  await until(async () => {
    const check = await post<{ subscribed: boolean }>(`${product}/api/functions/reliable-subscription-check`, {}, authorization);
    return check.subscribed || undefined;
  });
  return session;
}

const browser: Browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

/** Opens the page without banners, as if the person had already answered them. */
async function open(address: string, options: BrowserContextOptions, session?: Session): Promise<Page> {
  const context = await browser.newContext({
    locale: "en-GB",
    colorScheme: "light",
    reducedMotion: "reduce",
    serviceWorkers: "block",
    ...options,
  });
  await context.addInitScript((stored) => {
    sessionStorage.setItem("trialHidden", "yes");
    if (stored) localStorage.setItem("session", stored);
  }, session && JSON.stringify(session));
  const page = await context.newPage();
  // Show the page as it looks without a sandbox.
  await page.route("**/api/environment", (route) => route.fulfill({ json: { sandboxUrl: null, serverTime: new Date().toISOString() } }));
  await page.goto(product + address);
  return page;
}

async function take(name: string, page: Page): Promise<void> {
  await page.evaluate("document.fonts.ready.then(() => undefined)");
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
  await page.context().close();
}

async function publicPage(name: string, address: string, options: BrowserContextOptions): Promise<void> {
  const page = await open(address, options);
  const decline = page.getByRole("button", { name: "Decline", exact: true });
  await decline.click({ timeout: 10_000 });
  await decline.waitFor({ state: "hidden" });
  await page.mouse.move(0, 0);
  await take(name, page);
}

/**
 * Asks a question and takes a screenshot of the conversation. The sandbox's text is replaced by an answer that a real model
 * gave to this prompt.
 */
async function chat(name: string, options: BrowserContextOptions, session: Session): Promise<void> {
  const asking = await open("/ai-models?model=gpt-5-mini", options, session);
  await asking.getByLabel("Your prompt").fill(prompt);
  await asking.getByText("This answer costs 1 credit").waitFor();
  await asking.keyboard.press("Enter");
  await asking
    .getByText(/1 credit charged/)
    .first()
    .waitFor();
  const { pathname, search } = new URL(asking.url());
  await asking.context().close();

  const page = await open("/about", options, session);
  await page.route("**/api/conversations/*", async (route) => {
    const response = await route.fetch();
    const conversation = (await response.json()) as { messages: { role: string; content: string }[] };
    const messages = conversation.messages.map((message) => (message.role === "assistant" ? { ...message, content: reply } : message));
    await route.fulfill({ response, json: { ...conversation, messages } });
  });
  await page.goto(product + pathname + search);
  await page.getByText("Fresh bread from six").waitFor();
  await take(name, page);
}

try {
  await mkdir(folder, { recursive: true });
  const session = await subscriber();
  await publicPage("home-wide", "/", wide);
  await publicPage("home-narrow", "/", narrow);
  await publicPage("pricing-narrow", "/pricing", narrow);
  await chat("chat-wide", wide, session);
  await chat("chat-narrow", narrow, session);
} finally {
  await browser.close();
}
