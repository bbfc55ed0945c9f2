/** What the tests of banner, card and forms share. */
import { randomUUID } from "node:crypto";
import type { Locator, Page } from "playwright-core";
import { keptKeys } from "./device-database.ts";
import type { Stage } from "./support.ts";

export function newAddress(): string {
  return `writer-${randomUUID()}@example.com`;
}

/** How many acknowledgements have gone to an address: one for each message the product has stored from it. */
export async function messagesFrom(stage: Stage, address: string): Promise<number> {
  const response = await fetch(`${stage.product.sandboxUrl}/mail?to=${encodeURIComponent(address)}`);
  return ((await response.json()) as unknown[]).length;
}

/** The ids of the forms that wait on the device. */
export async function waitingForms(page: Page): Promise<string[]> {
  return (await keptKeys(page)).flatMap((key) => (key.startsWith("form:") ? [key.slice("form:".length)] : []));
}

export async function hasFocus(element: Locator): Promise<boolean> {
  return await element.evaluate((own) => own.ownerDocument.activeElement === own);
}

export async function propertiesOf(elements: Locator, name: "checked" | "required"): Promise<unknown> {
  return await elements.evaluateAll((all, wanted) => all.map((element) => (element as unknown as Record<string, unknown>)[wanted]), name);
}

/** What of the page the banner covers although it has the focus; "" where it covers nothing. */
export async function coveredFocus(page: Page): Promise<string> {
  return await page.evaluate<string>(`(() => {
    const bar = document.querySelector("section[data-consent]");
    const focused = document.activeElement;
    if (!bar || !focused || focused === document.body || bar.contains(focused)) return "";
    const { top, height } = focused.getBoundingClientRect();
    // Of a tall field the browser brings the line with the caret into sight.
    const clear = bar.getBoundingClientRect().top - top >= Math.min(height, 44) - 1;
    return clear ? "" : focused.textContent || focused.outerHTML.slice(0, 80);
  })()`);
}

export const banner = (page: Page) => page.locator("section[data-consent]");
export const card = (page: Page) => page.getByRole("complementary", { name: "How is Tessera for you?" });

/** Waits until what accompanies the page has been fetched and has looked at what the device keeps. */
export async function settle(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Support" }).waitFor();
  await page.waitForLoadState("networkidle");
}

/** Opens a page whose clock can be moved, and moves it past the time of the feedback card. */
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

/** Fills in the contact form that is on the page. */
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

/** The texts that stand at the fields of a form, in their order. */
export async function faultsIn(page: Page, form: string): Promise<string[]> {
  return await page.locator(`${form} [id$="-error"]:not(:empty)`).allTextContents();
}

export const spaces = " \t\n\u00a0 ";
export const marks = "\u200f\u200e\u202e\u2067\u2069\u200b\ufeff";
export const megabyte = "x".repeat(1_048_576);

let exhausted: string | undefined;

/** Has written as often as one may in an hour: the next message is refused. Found once, since this machine may write only so often too. */
export async function exhaustedAddress(stage: Stage): Promise<string> {
  if (exhausted) return exhausted;
  const email = newAddress();
  for (const message of ["1", "2", "3", "4", "5"]) {
    const headers = { "content-type": "application/json", "idempotency-key": randomUUID() };
    const body = JSON.stringify({ name: "Ada", email, category: "support", message });
    const response = await fetch(`${stage.url}/api/contact`, { method: "POST", headers, body });
    if (response.status !== 202) throw new Error(`the message was refused: ${response.status}`);
  }
  exhausted = email;
  return email;
}
