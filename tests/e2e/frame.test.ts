/** The frame and the home page for visitors, signed-in people, subscribers and admins (specification §2, §4, §6). */
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { plans } from "#domain/plans.ts";
import { full } from "#tests/support/full.ts";
import { Visitor } from "#tests/support/visitor.ts";
import type { Stage } from "./support.ts";
import { pageOf, setStage } from "./support.ts";

/** The first admin, whom the embedded product creates at its first start. */
class Owner extends Visitor {
  override readonly email = "admin@tessera.example";
}

/** How many of the composer's controls and how many lines of its price lie under a box. */
const coveredBy = (box: NonNullable<Awaited<ReturnType<Locator["boundingBox"]>>>) => `(({ x, y, width, height }) => {
  const price = document.querySelector("#composer-price");
  const words = document.createRange();
  words.selectNodeContents(price);
  const controls = [...price.closest("form").querySelectorAll("button, textarea")].map((each) => each.getBoundingClientRect());
  return [...words.getClientRects(), ...controls].filter(
    ({ left, right, top, bottom }) => left < x + width && right > x && top < y + height && bottom > y,
  ).length;
})(${JSON.stringify(box)})`;

describe("the frame by state", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
  }, 150_000);
  afterEach(() => stage?.devices.takeBack());
  afterAll(() => stage?.close());

  async function open(visitor: Visitor | undefined, path: string, width = 1440): Promise<Page> {
    const page = await pageOf(stage, visitor, { viewport: { width, height: 844 }, reducedMotion: "reduce" });
    await page.goto(`${stage.url}${path}`);
    await page.locator("main h1").first().waitFor({ state: "attached" });
    return page;
  }

  const linksOf = (page: Page) =>
    page
      .getByRole("banner")
      .locator("nav a")
      .evaluateAll((all) => all.map((link) => link.getAttribute("href")));

  it("a visitor sees links to sign-in, prices and, by Get Started, sign-up, and none to /admin or /profile", async () => {
    const page = await open(undefined, "/");
    await page.getByRole("banner").getByRole("link", { name: "Sign in" }).waitFor();
    expect(await linksOf(page)).toEqual(["/", "/ai-models", "/pricing", "/about", "/contact", "/marketing"]);
    expect(await page.getByRole("main").getByRole("link", { name: "Get Started" }).getAttribute("href")).toBe("/auth?mode=sign-up");
    expect(await page.getByRole("link", { name: "Start Free Trial" }).count()).toBe(1);
    expect(await page.getByRole("region", { name: "Your subscription" }).count()).toBe(0);
  });

  it("a signed-in person sees links to their account and, by Get Started, to /pricing, and a button that starts the trial", async () => {
    const visitor = await stage.person(false);
    const page = await open(visitor, "/");
    const account = page.getByRole("banner").getByRole("link", { name: `Your account, ${visitor.email}` });
    await account.waitFor();
    expect(await account.textContent()).toContain(visitor.email.slice(0, 2).toUpperCase());
    await expect.poll(() => page.getByRole("main").getByRole("link", { name: "Get Started" }).getAttribute("href")).toBe("/pricing");
    await page.getByRole("button", { name: "Start Free Trial" }).waitFor();
    expect(await page.getByRole("link", { name: "Start Free Trial" }).count()).toBe(0);
    expect(await page.getByRole("region", { name: "Your subscription" }).count()).toBe(0);
    await account.click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("banner").getByRole("link", { name: "Sign in" }).waitFor();
  });

  it.runIf(full)("signing in leads to the chat with a plan, and to the home page without", async () => {
    for (const [subscribed, path] of [
      [true, "/ai-models"],
      [false, "/"],
    ] as const) {
      const visitor = await stage.person(subscribed);
      const page = await open(undefined, "/auth");
      await page.getByLabel("Email").fill(visitor.email);
      await page.getByLabel("Password", { exact: true }).fill(visitor.password);
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.pathname === path);
      await stage.devices.takeBack();
    }
  });

  it("a subscriber sees the summary: collapsed with credits, label and time left; expanded with every figure", async () => {
    const visitor = await stage.person(true);
    const page = await open(visitor, "/");
    const summary = page.getByRole("region", { name: "Your subscription" });
    await summary.waitFor();
    const line = summary.locator("summary");
    await expect.poll(() => line.textContent()).toMatch(/Time left: (\d+ days|1 month)/);
    const text = (await line.textContent()) ?? "";
    expect(text).toContain("Starter Plan");
    expect(text).toContain(`${plans.starter.monthlyCredits} credits`);
    expect(text).toContain("low");
    expect(await summary.getByText("Price").isVisible()).toBe(false);
    await line.click();
    for (const name of ["Available credits", "Monthly credits", "Next billing date", "Price"]) {
      await summary.getByText(name, { exact: true }).waitFor();
    }
    expect(await summary.getByText("$19.99 a month").isVisible()).toBe(true);
    const current = page.getByRole("listitem", { name: "Starter" });
    expect(await current.getByRole("button", { name: "Current Plan" }).isDisabled()).toBe(true);
  });

  it("only an admin sees the link to /admin, in the bar and in the menu", async () => {
    const [, password = ""] = /password (\S+)/.exec(stage.product.output()) ?? [];
    const owner = await new Owner(stage.product.url, stage.product.sandboxUrl).signIn(password);
    const page = await open(owner, "/about");
    await expect.poll(() => linksOf(page)).toContain("/admin");
    const narrow = await open(owner, "/about", 390);
    await narrow.getByRole("button", { name: "Open menu" }).click();
    await narrow.getByRole("dialog").getByRole("link", { name: "Admin" }).waitFor();
  });

  it.runIf(full)("in the chat the support button covers nothing of the composer, and nothing above it, at any width", async () => {
    const visitor = await stage.person(true);
    for (const width of [320, 390, 800, 1440]) {
      const page = await open(visitor, "/ai-models?model=gpt-6-luna", width);
      const composer = page.locator("form", { has: page.getByLabel("Your prompt") });
      await composer.waitFor();
      await page.getByLabel("Your prompt").fill("One\nTwo\nThree\nFour");
      const support = page.getByRole("button", { name: "Support", exact: true });
      await support.waitFor();
      // The composer grows with its text, and the button moves once the line with the price is measured.
      const measure = async () => {
        const [button, form] = await Promise.all([support.boundingBox(), composer.boundingBox()]);
        if (!button || !form) return undefined;
        const covered = await page.evaluate<number>(coveredBy(button));
        return { composerAtTheFoot: form.y + form.height > 840, covered, buttonBelowThread: button.y >= form.y };
      };
      await expect.poll(measure, { message: `at ${width}` }).toEqual({ composerAtTheFoot: true, covered: 0, buttonBelowThread: true });
      await stage.devices.takeBack();
    }
  });
});
