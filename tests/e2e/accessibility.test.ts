import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import texts from "#client/i18n/locales/en/order.json" with { type: "json" };
import { themes, violationsOn } from "#tests/support/accessibility.ts";
import { full } from "#tests/support/full.ts";
import { hasTurn } from "#tests/support/turns.ts";
import { Visitor } from "#tests/support/visitor.ts";
import type { Stage } from "./support.ts";
import { ask, deviceOf, order, setStage } from "./support.ts";

/** Approximately the accessible name of the focused element. */
const focusedName = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return "";
  return (element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent ?? "").trim();
})()`;

/** Presses Tab until `name` has the focus; starts again from the top while the page is still rendering. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const deadline = Date.now() + 30_000;
  const matches = (text: string) => (typeof name === "string" ? text === name : name.test(text));
  const passed: string[] = [];
  while (Date.now() < deadline) {
    await page.keyboard.press("Tab");
    const label = await page.evaluate<string>(focusedName);
    passed.push(label);
    if (matches(label)) return;
  }
  throw new Error(`the focus never came to ${String(name)}, but to: ${[...new Set(passed)].join(" | ")}`);
}

describe("accessibility of the client", () => {
  let stage: Stage;
  const scan = (page: Page, where: string) => violationsOn(page, where, { colorSchemes: themes });
  beforeAll(async () => {
    stage = await setStage();
    await order(stage, "/models/pace", { paceMs: 0 });
  }, 150_000);
  afterAll(() => stage?.close());

  async function open(visitor: Visitor | undefined, width: number): Promise<Page> {
    return (await deviceOf(stage, visitor, { viewport: { width, height: 844 } })).newPage();
  }

  async function visit(page: Page, path: string): Promise<void> {
    await page.goto(`${stage.url}${path}`);
    await page.locator("main h1").first().waitFor({ state: "attached" });
    // The sign-in or account link appears when the page knows whether a person is signed in.
    await page
      .getByRole("banner")
      .getByRole("link", { name: /Sign in|Your account/ })
      .first()
      .waitFor();
  }

  const pages = ["/", "/pricing", "/auth", "/auth?mode=sign-up", "/ai-models", "/profile", "/design", "/nowhere"];

  // Each page once, half of them dark and narrow; `npm run test:full` has each in both themes and both widths.
  it.runIf(hasTurn("accessible", "visitor"))("no violation on a visitor's pages, in either theme, wide and narrow", async () => {
    const found: string[] = [];
    for (const [width, colorScheme] of [
      [1440, "light"],
      [390, "dark"],
    ] as const) {
      const page = await open(undefined, width);
      const colorSchemes = full ? themes : [colorScheme];
      for (const path of full ? pages : pages.filter((_, index) => index % 2 === (width === 390 ? 0 : 1))) {
        await visit(page, path);
        found.push(...(await violationsOn(page, `${path} at ${width}`, { colorSchemes })));
      }
      await page.context().close();
    }
    expect(found).toEqual([]);
  });

  it("no violation in error messages, menus and dialogs", async () => {
    const page = await open(undefined, 390);
    await visit(page, "/auth?mode=sign-up");
    await page.getByRole("button", { name: "Create account", exact: true }).click();
    await page.getByText("at least 8 characters").first().waitFor();
    const found = await scan(page, "sign-up with faults");
    await page.getByRole("button", { name: "Open menu" }).click();
    await page.getByRole("dialog").waitFor();
    found.push(...(await scan(page, "menu")));
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await expect.poll(() => page.evaluate(focusedName)).toBe("Open menu");
    await page.context().close();
    expect(found).toEqual([]);
  });

  it.runIf(hasTurn("accessible", "subscriber"))(
    "no violation in a subscriber's chat and account, with a finished and a failed answer",
    async () => {
      const visitor = await stage.person(true);
      const found: string[] = [];
      const page = await open(visitor, 1440);
      await visit(page, "/ai-models");
      found.push(...(await scan(page, "a new conversation")));
      await ask(page, stage, "A list, a table and code in python about tiles");
      await page
        .getByText(/1 credit charged/)
        .first()
        .waitFor();
      await order(stage, "/models/fault", { model: "gpt-6-luna", fault: "server_error", count: 2 });
      await page.getByLabel("Your prompt").fill("One that fails");
      await page.keyboard.press("Enter");
      await page.getByText("This answer failed. Nothing was charged.").waitFor();
      await page.locator("details summary").first().click();
      found.push(...(await scan(page, "a conversation")));
      await page
        .getByRole("button", { name: /GPT-6 Luna/ })
        .first()
        .click();
      await page.getByRole("dialog").waitFor();
      found.push(...(await scan(page, "the choice of a model")));
      await page.keyboard.press("Escape");
      await visit(page, "/profile");
      await page.getByText("Starter Plan").first().waitFor();
      found.push(...(await scan(page, "the account")));
      await visit(page, "/profile/usage");
      await page.getByText("Answer by").first().waitFor();
      found.push(...(await scan(page, "history and usage")));
      await visit(page, "/");
      found.push(...(await scan(page, "home, signed in")));
      await page.context().close();
      expect(found).toEqual([]);
    },
  );

  it("a person can sign up, get an answer and open the account with the keyboard alone", async () => {
    const visitor = new Visitor(stage.product.url, stage.product.sandboxUrl);
    const page = await open(undefined, 1440);
    await visit(page, "/");
    await tabTo(page, "Sign in");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/auth**");
    await tabTo(page, "Create an account");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/auth?*mode=sign-up*");
    await tabTo(page, "Email");
    await page.keyboard.type(visitor.email);
    await tabTo(page, "Password");
    await page.keyboard.type(visitor.password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Check your email" }).waitFor();
    await page.goto((await visitor.mailedLink("/auth")).href);
    await page.getByRole("button", { name: "Subscribe to Starter" }).waitFor();
    await tabTo(page, "Subscribe to Starter");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: texts.confirm }).waitFor();
    await tabTo(page, /^Begin at once/);
    await page.keyboard.press("Space");
    await tabTo(page, texts.confirm);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${stage.product.sandboxUrl}/**`);
    await page.getByRole("button", { name: /pay|subscribe/i }).waitFor();
    await tabTo(page, /^(pay|subscribe)/i);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${stage.url}/**`);
    await page.locator("main h1").first().waitFor();

    await tabTo(page, "AI models");
    await page.keyboard.press("Enter");
    await page.getByLabel("Your prompt").waitFor();
    await tabTo(page, /^GPT-6 Luna/);
    await page.keyboard.press("Enter");
    await tabTo(page, "Your prompt");
    await page.keyboard.type("Asked without a mouse");
    await page.keyboard.press("Enter");
    await page
      .getByText(/1 credit charged, 299/)
      .first()
      .waitFor();
    await tabTo(page, /Your account, /);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/profile");
    await expect.poll(() => page.evaluate("document.activeElement?.tagName")).toBe("H1");
    await tabTo(page, "Sign out");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(() => localStorage.getItem("session"))).toBeNull();
    await page.context().close();
  });
});
