import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { sharedBrowser } from "#tests/support/browser.ts";
import { copyCluster } from "#tests/support/postgres.ts";
import type { Product, ProductFolder } from "#tests/support/supervised.ts";
import { createProductFolder } from "#tests/support/supervised.ts";
import { placeOrder } from "./support.ts";

const email = `visitor-${randomUUID()}@example.com`;
const password = "correct horse 9 battery";

/** Detects if a person who has just paid is told, even for one frame, that they have no plan. It is text because it runs in the page. */
const watchForDenial = `
  window.denied = false;
  new MutationObserver(() => {
    window.denied ||= document.body?.textContent.includes("No plan yet") ?? false;
  }).observe(document, { childList: true, subtree: true, characterData: true });
`;

/** Collects console errors and uncaught exceptions; any of them fails the test. */
function watch(page: Page): string[] {
  const faults: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  return faults;
}

async function mailedLink(sandboxUrl: string): Promise<string> {
  let link = "";
  await expect
    .poll(
      async () => {
        const mails = (await (await fetch(`${sandboxUrl}/mail?to=${encodeURIComponent(email)}`)).json()) as { links: string[] }[];
        link = mails.flatMap((mail) => mail.links).find((candidate) => candidate.includes("confirm=")) ?? "";
        return link;
      },
      { timeout: 15_000 },
    )
    .not.toBe("");
  return link;
}

describe("the main job in Chromium on the embedded default", () => {
  let folder: ProductFolder;
  let product: Product;
  let browser: Browser;
  beforeAll(async () => {
    folder = await createProductFolder();
    // An initialised and migrated PostgreSQL: how one is made is supervisor.test.ts's.
    await mkdir(folder.dataDir, { recursive: true });
    await copyCluster(inject("postgres").preparedFolder, folder.dataDir);
    product = folder.start();
    await product.said("Sandbox", 120_000);
    browser = await sharedBrowser();
  }, 150_000);
  afterAll(async () => {
    await folder?.remove();
  });

  it("visit → sign up → mailed link → pricing → checkout → active by live push → priced answer → receipt → renewed", async () => {
    const context = await browser.newContext({ locale: "en-GB", viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    const faults = watch(page);

    await page.goto(product.url);
    await page.getByRole("main").getByRole("link", { name: "Get Started" }).first().click();
    await page.waitForURL("**/auth**");
    // Get Started opens sign-up, not sign-in.
    await page.getByRole("heading", { name: "Create an account" }).waitFor();
    await page.getByLabel("Email", { exact: true }).fill(email);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByRole("button", { name: "Create account", exact: true }).click();
    await page.getByRole("heading", { name: "Check your email" }).waitFor();

    await page.goto(await mailedLink(product.sandboxUrl));
    await page.waitForURL((url) => url.pathname !== "/auth");
    await page.goto(`${product.url}/pricing`);

    // A second page of the same person shows the profile: the subscription must appear there without a reload.
    const profile = await context.newPage();
    const profileFaults = watch(profile);
    await profile.goto(`${product.url}/profile`);
    await profile.getByText("No plan yet").waitFor();

    await page.addInitScript(watchForDenial);
    await page.getByRole("button", { name: "Subscribe to Starter" }).click();
    await placeOrder(page);
    await page.waitForURL(`${product.sandboxUrl}/**`);
    await page.getByRole("button", { name: /pay|subscribe/i }).click();
    await page.getByRole("heading", { name: "300 credits are yours" }).waitFor();
    expect(await page.evaluate("window.denied")).toBe(false);
    await profile.getByText("Starter Plan").first().waitFor({ timeout: 20_000 });
    await profile.getByText("300", { exact: false }).first().waitFor();

    await page.getByRole("link", { name: "Start chatting" }).click();
    await page.waitForURL(`${product.url}/ai-models`);
    await page
      .getByRole("button", { name: /GPT-6 Luna/ })
      .first()
      .click();
    await page.getByLabel("Your prompt").fill("What is a tessera, in two sentences?");
    await page.getByText("This answer costs 1 credit").waitFor();
    await page.keyboard.press("Enter");
    await page
      .getByText(/1 credit charged, 299/)
      .first()
      .waitFor({ timeout: 30_000 });

    const clock = await fetch(`${product.sandboxUrl}/clock`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ advance: "P1MT2H" }),
    });
    expect(clock.status).toBe(200);
    await profile.bringToFront();
    await profile
      .getByText(/^300\b/)
      .first()
      .waitFor({ timeout: 20_000 });
    const check = (await profile.evaluate(async () => {
      const { access_token: token } = JSON.parse(localStorage.getItem("session") ?? "{}");
      const response = await fetch("/api/functions/reliable-subscription-check", {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: "{}",
      });
      return response.json();
    })) as { credits: number; subscribed: boolean };
    expect(check).toMatchObject({ subscribed: true, credits: 300 });
    expect([...faults, ...profileFaults]).toEqual([]);
    await context.close();
  }, 240_000);
});
