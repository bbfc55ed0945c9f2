/** Helpers for the tests of banner, card and forms. */
import { randomUUID } from "node:crypto";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { keptKeys } from "./device-database.ts";
import type { Stage } from "./support.ts";
import { deviceOf, pageOf, setStage } from "./support.ts";

interface FreshPage {
  stage: Stage;
  context: BrowserContext;
  page: Page;
}

/**
 * Starts one product for the tests of a file, and opens a page on an empty device for each test; with `clocks` in a new context, since
 * a clock can't be taken back.
 */
export function onFreshPages(take: (fresh: FreshPage) => void, { clocks = false } = {}): void {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
  }, 150_000);
  afterAll(() => stage?.close());
  beforeEach(async () => {
    const calm = { reducedMotion: "reduce" } as const;
    const page = clocks ? await (await deviceOf(stage, undefined, calm)).newPage() : await pageOf(stage, undefined, calm);
    take({ stage, context: page.context(), page });
  });
  afterEach(() => stage?.devices.takeBack());
}

export function newAddress(): string {
  return `writer-${randomUUID()}@example.com`;
}

/** The number of acknowledgements sent to an address: one for each message the product has stored from it. */
export async function messagesFrom(stage: Stage, address: string): Promise<number> {
  const response = await fetch(`${stage.product.sandboxUrl}/mail?to=${encodeURIComponent(address)}`);
  return ((await response.json()) as unknown[]).length;
}

/** The ids of the forms queued on the device. */
export async function waitingForms(page: Page): Promise<string[]> {
  return (await keptKeys(page)).flatMap((key) => (key.startsWith("form:") ? [key.slice("form:".length)] : []));
}

export async function hasFocus(element: Locator): Promise<boolean> {
  return await element.evaluate((own) => own.ownerDocument.activeElement === own);
}

export async function propertiesOf(elements: Locator, name: "checked" | "required"): Promise<unknown> {
  return await elements.evaluateAll((all, wanted) => all.map((element) => (element as unknown as Record<string, unknown>)[wanted]), name);
}

/** The focused element's text if the banner covers it; "" if it does not. */
export async function coveredFocus(page: Page): Promise<string> {
  return await page.evaluate<string>(`(() => {
    const bar = document.querySelector("section[data-consent]");
    const focused = document.activeElement;
    if (!bar || !focused || focused === document.body || bar.contains(focused)) return "";
    const { top, height } = focused.getBoundingClientRect();
    // For a tall field the browser scrolls only the line with the caret into view.
    const clear = bar.getBoundingClientRect().top - top >= Math.min(height, 44) - 1;
    return clear ? "" : focused.textContent || focused.outerHTML.slice(0, 80);
  })()`);
}

export const banner = (page: Page) => page.locator("section[data-consent]");
export const card = (page: Page) => page.getByRole("complementary", { name: "How is Tessera for you?" });

/** Waits until the page's companions (support, banner, card) are loaded and have read the device's storage. */
export async function settle(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Support" }).waitFor();
  await page.waitForLoadState("networkidle");
}

/** Opens a page with a fake clock and moves the clock until the feedback card appears. */
export async function openWithCard(page: Page, address: string): Promise<void> {
  await page.clock.install();
  await page.goto(address);
  await settle(page);
  await page.clock.fastForward(10_000);
  await card(page).waitFor();
}

export interface Letter {
  name?: string;
  email?: string;
  subject?: string;
  message?: string;
}

/** Fills in the contact form on the page. */
export async function fillLetter(page: Page, { name = "Ada", email, subject, message }: Letter): Promise<void> {
  const form = page.locator("main form");
  await form.getByLabel("Name").fill(name);
  if (email !== undefined) await form.getByLabel("Email").fill(email);
  if (subject !== undefined) await form.getByLabel("Subject").fill(subject);
  if (message !== undefined) await form.getByLabel("Message").fill(message);
}

export async function sendLetter(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Send message" }).click();
}

/** The error texts at a form's fields, in order. */
export async function faultsIn(page: Page, form: string): Promise<string[]> {
  return await page.locator(`${form} [id$="-error"]:not(:empty)`).allTextContents();
}

export const spaces = " \t\n\u00a0 ";
export const marks = "\u200f\u200e\u202e\u2067\u2069\u200b\ufeff";
export const megabyte = "x".repeat(1_048_576);

const exhausted = new WeakMap<Stage, string>();

/** An email address that has reached its hourly limit. Created once for each product, because this machine's address has a limit too. */
export async function exhaustedAddress(stage: Stage): Promise<string> {
  const created = exhausted.get(stage);
  if (created !== undefined) return created;
  const email = newAddress();
  for (const message of ["1", "2", "3", "4", "5"]) {
    const headers = { "content-type": "application/json", "idempotency-key": randomUUID() };
    const body = JSON.stringify({ name: "Ada", email, category: "support", message });
    const response = await fetch(`${stage.url}/api/contact`, { method: "POST", headers, body });
    if (response.status !== 202) throw new Error(`the message was refused: ${response.status}`);
  }
  exhausted.set(stage, email);
  return email;
}
