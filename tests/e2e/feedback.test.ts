import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { full } from "#tests/support/full.ts";
import { coveredControls } from "#tests/support/in-reach.ts";
import { kept } from "./device-database.ts";
import {
  banner,
  card,
  exhaustedAddress,
  faultsIn,
  marks,
  megabyte,
  messagesFrom,
  newAddress,
  onFreshPages,
  openWithCard,
  settle,
  spaces,
} from "./forms-support.ts";
import type { Stage } from "./support.ts";
import { deviceOf } from "./support.ts";

/** What repeats the same code with another address, button or width runs in `npm run test:full`. */

let stage: Stage;
let context: BrowserContext;
let page: Page;
onFreshPages(
  (fresh) => {
    ({ stage, context, page } = fresh);
  },
  { clocks: true },
);

describe("feedback (specification §2, §4, §5, §8)", () => {
  const dialog = () => page.getByRole("dialog", { name: "Give feedback" });
  const toasts = () => page.locator("[aria-live=polite] li");

  async function fillIn(values: { name?: string; email?: string; message?: string }): Promise<void> {
    const { name = "Ada", email = "ada@example.com", message = "Good tiles" } = values;
    await dialog().getByLabel("Name").fill(name);
    await dialog().getByLabel("Email").fill(email);
    await dialog().getByLabel("Feedback").fill(message);
    await dialog().getByRole("button", { name: "Send Feedback" }).click();
  }

  it.each(full ? ["/", "/pricing"] : ["/pricing"])("shows its card 10 s after load on %s, and not before", async (path) => {
    await page.clock.install();
    await page.goto(`${stage.url}${path}`);
    await settle(page);
    const elapsedMs = await page.evaluate(() => performance.now());
    await page.clock.fastForward(Math.max(0, 9_000 - elapsedMs));
    await settle(page);
    expect(await card(page).count()).toBe(0);
    await page.clock.fastForward(1_000);
    await card(page).waitFor();
  });

  it.runIf(full).each([
    ["in the chat, where it would cover the composer", "/ai-models"],
    ["beside the forms for signing in and up", "/auth?mode=sign-up"],
  ])("is not shown %s, and reappears on the next page", async (_where, path) => {
    await page.clock.install();
    await page.goto(stage.url + path);
    await settle(page);
    await page.clock.fastForward(20_000);
    await settle(page);
    expect(await card(page).count()).toBe(0);
    await page.getByRole("link", { name: "About" }).first().click();
    await card(page).waitFor();
  });

  it("is shown to a signed-in person only after their first answer", async () => {
    const visitor = await stage.person(true);
    const own = await deviceOf(stage, visitor, { reducedMotion: "reduce" });
    page = await own.newPage();
    await page.clock.install();
    await page.goto(`${stage.url}/pricing`);
    await page.getByText("Current Plan").first().waitFor();
    await settle(page);
    await page.clock.fastForward(20_000);
    await settle(page);
    expect(await card(page).count()).toBe(0);
    await visitor.ask();
    await openWithCard(page, `${stage.url}/pricing`);
  });

  it.each(full ? ["Close", "Don't show again"] : ["Close"])("is dismissed for good by %s", async (name) => {
    await openWithCard(page, `${stage.url}/pricing`);
    await card(page).getByRole("button", { name }).click();
    await expect.poll(() => card(page).count()).toBe(0);
    await expect.poll(() => kept(page, "feedbackDismissed")).toBe(true);
    await page.reload();
    await settle(page);
    await page.clock.fastForward(20_000);
    await settle(page);
    expect(await card(page).count()).toBe(0);
  });

  describe("from its card to its thanks", () => {
    // Each of these leaves the card or the dialog as the next one needs it, so all use one page.
    let shared: Page | undefined;
    beforeEach(async () => {
      if (shared === undefined) {
        shared = await stage.browser.newPage({ serviceWorkers: "block", locale: "en-GB", reducedMotion: "reduce" });
        await openWithCard(shared, `${stage.url}/pricing`);
      }
      page = shared;
    });
    afterAll(() => shared?.context().close());

    it.runIf(full)("has no button in the accent colour, which belongs to the page's own main action", async () => {
      const filled = await page.evaluate<string[]>(
        `[...document.querySelectorAll("aside[aria-labelledby=feedback-title] button")].map((button) => getComputedStyle(button).backgroundColor)`,
      );
      expect(filled).toEqual(["rgba(0, 0, 0, 0)", "rgba(0, 0, 0, 0)", "rgba(0, 0, 0, 0)"]);
    });

    it("stays after Cancel, with what was typed, and gets the focus back, although the dialog's fields lay over it", async () => {
      const { width = 0, height = 0 } = page.viewportSize() ?? {};
      await page.setViewportSize({ width: 700, height });
      await card(page).getByRole("button", { name: "Give Feedback" }).click();
      await dialog().getByLabel("Feedback").fill("Half a tile");
      await dialog().getByRole("button", { name: "Cancel" }).click();
      await dialog().waitFor({ state: "hidden" });
      await expect.poll(() => page.evaluate("document.activeElement?.textContent")).toBe("Give Feedback");
      expect(await kept(page, "feedbackDismissed")).toBeUndefined();
      await card(page).getByRole("button", { name: "Give Feedback" }).click();
      await expect.poll(() => dialog().getByLabel("Feedback").inputValue()).toBe("Half a tile");
      await page.setViewportSize({ width, height });
    });

    const edges: [string, { name?: string; email?: string; message?: string }, string[]][] = [
      ["nothing", { name: "", email: "", message: "" }, ["Name is required", "Invalid email address", "Message is required"]],
      ["only spaces", { name: spaces, message: spaces }, ["Name is required", "Message is required"]],
      ["only direction marks", { name: marks, message: marks }, ["Name is required", "Message is required"]],
      ["only brackets", { name: "<>", message: "<>" }, ["Name is required", "Message is required"]],
      ["an address that is none", { email: "ada@example" }, ["Invalid email address"]],
      ["an address too long", { email: `${"e".repeat(244)}@example.com` }, ["Email must be less than 255 characters. Use 255 or fewer"]],
      [
        "one too many",
        { name: "n".repeat(101), message: "m".repeat(5_001) },
        ["Name must be less than 100 characters. Use 100 or fewer", "Message must be less than 5000 characters. Use 5000 or fewer"],
      ],
      ["emoji at the edge, and an empty message", { name: "🧱".repeat(100), message: "" }, ["Message is required"]],
      ["a megabyte", { message: megabyte }, ["Message must be less than 5000 characters. Use 5000 or fewer"]],
    ];

    it("shows the first error in a toast and each at its field, in the specification's words", async () => {
      for (const [what, values, faults] of edges) {
        await fillIn(values);
        await expect.poll(() => faultsIn(page, "dialog[open]"), { message: what }).toEqual(faults);
        const toast = toasts().last();
        await expect.poll(() => toast.textContent(), { message: what }).toBe(`Validation Error${faults[0]}`);
        expect(await toast.getAttribute("class")).toMatch(/danger/);
        await toast.getByRole("button", { name: "Close" }).click();
        await expect.poll(() => toasts().count()).toBe(0);
      }
      expect(await messagesFrom(stage, "ada@example.com")).toBe(0);
    });

    it.runIf(full)("says if sending failed, and keeps the text and the dialog", async () => {
      const email = await exhaustedAddress(stage);
      await fillIn({ email, message: "One too many" });
      await toasts().getByText("Error", { exact: true }).waitFor();
      await toasts().getByText("Failed to send your feedback. Please try again later.").waitFor();
      expect(await dialog().getByLabel("Feedback").inputValue()).toBe("One too many");
      expect(await kept(page, "feedbackDismissed")).toBeUndefined();
    });

    it("sends once, thanks, clears the form, closes the dialog and is never shown again", async () => {
      const email = newAddress();
      const [request] = await Promise.all([page.waitForRequest("**/api/functions/send-contact-email"), fillIn({ name: " Ada ", email })]);
      expect(request.postDataJSON()).toMatchObject({
        email,
        category: "feedback",
        subject: "General Feedback from Ada",
        message: "Good tiles",
      });
      await toasts().getByText("Feedback Sent!").waitFor();
      await toasts().getByText("Thank you for your feedback. We appreciate your input!").waitFor();
      await dialog().waitFor({ state: "hidden" });
      await expect.poll(() => card(page).count()).toBe(0);
      await expect.poll(() => kept(page, "feedbackDismissed")).toBe(true);
      await expect.poll(() => kept(page, "draft:visitor:feedback")).toBeUndefined();
      await expect.poll(() => messagesFrom(stage, email)).toBe(1);
    });
  });

  it.runIf(full)("waits for a connection and is sent once", async () => {
    const email = newAddress();
    await openWithCard(page, `${stage.url}/pricing`);
    await card(page).getByRole("button", { name: "Give Feedback" }).click();
    await context.setOffline(true);
    await fillIn({ email });
    await toasts().getByText("Feedback kept").waitFor();
    await dialog().waitFor({ state: "hidden" });
    await context.setOffline(false);
    await toasts().getByText("Feedback Sent!").waitFor();
    await expect.poll(() => messagesFrom(stage, email)).toBe(1);
  });

  async function boxOf(part: ReturnType<typeof card>) {
    const box = await part.boundingBox();
    if (!box) throw new Error("not on the page");
    return box;
  }
  const bottomOf = async (part: ReturnType<typeof card>) => boxOf(part).then(({ y, height }) => y + height);
  const support = () => page.getByRole("button", { name: "Support" });
  async function focusAtTheFoot(): Promise<void> {
    await page.locator("[name=message]").evaluate((field) => {
      field.scrollIntoView({ block: "end" });
      field.focus({ preventScroll: true });
    });
  }

  const phones = [
    { width: 320, height: 640 },
    { width: 390, height: 844 },
  ];
  it.each(full ? phones : phones.slice(0, 1))(
    "shares one bar with the consent banner on a phone of $width px, and the page leaves room for it",
    async (size) => {
      await page.setViewportSize(size);
      await openWithCard(page, `${stage.url}/contact`);
      await banner(page).waitFor();
      // The banner's height is measured after it is drawn; the card and the button above it move then.
      await expect.poll(async () => bottomOf(card(page)).then(async (bottom) => bottom <= (await boxOf(banner(page))).y)).toBe(true);
      const own = await boxOf(card(page));
      expect([own.x, own.width]).toEqual([0, size.width]);
      await expect.poll(() => bottomOf(support())).toBeLessThanOrEqual(own.y);
      expect(size.height - own.y).toBeLessThan(size.height * 0.45);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(size.width);
      await focusAtTheFoot();
      await expect.poll(() => bottomOf(page.locator("[name=message]"))).toBeLessThanOrEqual(own.y);
      expect(await card(page).isVisible()).toBe(true);
      await banner(page).getByRole("button", { name: "Manage preferences" }).click();
      await card(page).waitFor({ state: "hidden" });
    },
  );

  it.runIf(full)("in a wide window leaves room at the end of the page, so that no link stays below it", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await openWithCard(page, `${stage.url}/pricing`);
    await banner(page).waitFor();
    await expect.poll(() => coveredControls(page)).toEqual([]);
  });

  it.runIf(full)("covers neither the banner nor the support button in a narrow window, nor the focused element", async () => {
    await page.setViewportSize({ width: 660, height: 640 });
    await openWithCard(page, `${stage.url}/contact`);
    await banner(page).waitFor();
    const bar = await boxOf(banner(page));
    for (const part of [card(page), support()]) await expect.poll(() => bottomOf(part)).toBeLessThanOrEqual(bar.y);
    const [own, button] = [await boxOf(card(page)), await boxOf(support())];
    expect(own.x + own.width).toBeLessThanOrEqual(button.x);
    await focusAtTheFoot();
    await expect.poll(() => bottomOf(page.locator("[name=message]"))).toBeLessThanOrEqual(own.y);
    expect(await card(page).isVisible()).toBe(true);
    // A field that gets the focus where the reader has scrolled it, below the card.
    const field = page.locator("[name=message]");
    await field.blur();
    const { y, height } = await boxOf(field);
    await page.evaluate(`scrollBy(0, ${y + height - own.y - own.height})`);
    await field.evaluate((element) => element.focus({ preventScroll: true }));
    await card(page).waitFor({ state: "hidden" });
    await field.blur();
    await card(page).waitFor({ state: "visible" });
  });
});
