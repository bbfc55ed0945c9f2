import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { themes, violationsOn } from "#tests/support/accessibility.ts";
import { full } from "#tests/support/full.ts";
import { kept } from "./device-database.ts";
import {
  banner,
  card,
  coveredFocus,
  faultsIn,
  hasFocus,
  onFreshPages,
  openWithCard,
  propertiesOf,
  sendLetter,
  settle,
} from "./forms-support.ts";
import type { Stage } from "./support.ts";
import { deviceOf, pageOf } from "./support.ts";

let stage: Stage;
let page: Page;
onFreshPages((fresh) => {
  ({ stage, page } = fresh);
});

describe("the consent banner (specification §2 to §5)", () => {
  const act = (name: string) => banner(page).getByRole("button", { name, exact: true }).click();

  async function open(path = "/pricing"): Promise<void> {
    await page.goto(`${stage.url}${path}`);
    await banner(page).waitFor();
  }

  /** The stored choice without its timestamp, which must be less than a minute old. */
  async function stored(): Promise<unknown> {
    const consent = (await kept(page, "userConsent")) as { timestamp: string } | undefined;
    if (!consent) return undefined;
    const { timestamp, ...choice } = consent;
    expect(new Date(timestamp).toISOString()).toBe(timestamp);
    expect(Math.abs(Date.now() - Date.parse(timestamp))).toBeLessThan(60_000);
    return { ...choice, cookieConsent: await kept(page, "cookieConsent") };
  }

  async function expectClosedForGood(): Promise<void> {
    await banner(page).waitFor({ state: "detached" });
    await page.reload();
    await settle(page);
    expect(await banner(page).count()).toBe(0);
  }

  it.runIf(full)("is not in the served HTML, and does not take the focus when it appears", async () => {
    const html = await (await fetch(`${stage.url}/pricing`)).text();
    expect(html).toContain("<h1");
    expect(html).not.toContain("data-consent");
    await open();
    expect(await page.evaluate("document.activeElement === document.body")).toBe(true);
    expect(await page.locator("dialog[open]").count()).toBe(0);
    await page.getByRole("link", { name: "About" }).first().click();
    await page.waitForURL("**/about");
    expect(await banner(page).count()).toBe(1);
  });

  it("is not shown to a signed-in person, and appears when they sign out", async () => {
    const visitor = await stage.person(false);
    page = await pageOf(stage, visitor);
    await page.goto(`${stage.url}/pricing`);
    await page
      .getByRole("link", { name: /Your account/ })
      .first()
      .waitFor();
    await settle(page);
    expect(await banner(page).count()).toBe(0);
    await page.goto(`${stage.url}/profile`);
    await page.getByRole("button", { name: "Sign out" }).first().click();
    await banner(page).waitFor();
  });

  it("stores all three as accepted and closes on Accept all", async () => {
    await open();
    await act("Accept all");
    await expect.poll(stored).toEqual({ tos: true, privacy: true, cookies: true, cookieConsent: "accepted" });
    await expectClosedForGood();
  });

  it("stores none as accepted and closes on Decline", async () => {
    await open();
    await act("Decline");
    await expect.poll(stored).toEqual({ tos: false, privacy: false, cookies: false, cookieConsent: "declined" });
    await expectClosedForGood();
  });

  it.runIf(full)("does the same on Decline all in the detailed view, whose Back returns to the short one", async () => {
    await open();
    await act("Manage preferences");
    await act("Back");
    await banner(page).getByRole("button", { name: "Accept all" }).waitFor();
    await act("Manage preferences");
    await banner(page).getByLabel("Usage statistics").check();
    await act("Decline all");
    await expect.poll(stored).toEqual({ tos: false, privacy: false, cookies: false, cookieConsent: "declined" });
    await expectClosedForGood();
  });

  it("saves preferences when both required boxes are checked, with the cookie box as it is", async () => {
    const cookies = true;
    await open();
    await act("Manage preferences");
    const save = banner(page).getByRole("button", { name: "Save preferences" });
    const boxes = banner(page).getByRole("checkbox");
    expect(await propertiesOf(boxes, "checked")).toEqual([false, false, false]);
    expect(await propertiesOf(boxes, "required")).toEqual([true, true, false]);
    expect(await save.isDisabled()).toBe(true);
    await banner(page).getByLabel("Terms of service").check();
    expect(await save.isDisabled()).toBe(true);
    await banner(page).getByLabel("Usage statistics").setChecked(cookies);
    expect(await save.isDisabled()).toBe(true);
    await banner(page).getByLabel("Privacy policy").check();
    expect(await save.isEnabled()).toBe(true);
    await banner(page).getByLabel("Terms of service").uncheck();
    expect(await save.isDisabled()).toBe(true);
    await banner(page).getByLabel("Terms of service").check();
    expect(await stored()).toBeUndefined();
    await save.click();
    await expect.poll(stored).toEqual({ tos: true, privacy: true, cookies, cookieConsent: cookies ? "accepted" : "declined" });
    await expectClosedForGood();
  });

  it.runIf(full)("links to terms and privacy, and makes accepting and declining equally prominent", async () => {
    await open();
    const links = banner(page).getByRole("link");
    expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute("href")))).toEqual(["/terms", "/privacy"]);
    const lookOf = (name: string) =>
      banner(page)
        .getByRole("button", { name, exact: true })
        .evaluate((button) => {
          const { color, backgroundColor, borderColor, fontSize, fontWeight } =
            button.ownerDocument.defaultView?.getComputedStyle(button) ?? {};
          return [color, backgroundColor, borderColor, fontSize, fontWeight, button.getBoundingClientRect().height];
        });
    expect(await lookOf("Accept all")).toEqual(await lookOf("Decline"));
  });

  it("never covers the focused element, and the page can be scrolled to end above it", async () => {
    await page.setViewportSize({ width: 390, height: 640 });
    await open("/contact");
    const hidden: string[] = [];
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press("Tab");
      const covered = await coveredFocus(page);
      if (covered) hidden.push(covered);
    }
    expect(hidden).toEqual([]);
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    const gap = await page.evaluate<number>(`
      document.querySelector("section[data-consent]").getBoundingClientRect().top - document.querySelector("footer ul").getBoundingClientRect().bottom
    `);
    expect(gap).toBeGreaterThanOrEqual(0);
  });

  it("opens again from the footer with the stored choice, takes the focus and returns it on closing", async () => {
    await open();
    await act("Decline");
    await banner(page).waitFor({ state: "detached" });
    const opener = page.getByRole("button", { name: "Cookie preferences" });
    await opener.press("Enter");
    await banner(page).getByRole("button", { name: "Save preferences" }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement?.hasAttribute("data-consent")')).toBe(true);
    for (const label of ["Terms of service", "Privacy policy", "Usage statistics"]) await banner(page).getByLabel(label).check();
    await banner(page).getByRole("button", { name: "Save preferences" }).press("Enter");
    await expect.poll(stored).toEqual({ tos: true, privacy: true, cookies: true, cookieConsent: "accepted" });
    await expect.poll(() => hasFocus(opener)).toBe(true);
    await opener.press("Enter");
    await banner(page).waitFor();
    expect(await propertiesOf(banner(page).getByRole("checkbox"), "checked")).toEqual([true, true, true]);
  });

  it.runIf(full)("has no accessibility violation in either view and theme, nor have the card, the dialog and the form", async () => {
    page = await (await deviceOf(stage, undefined, { viewport: { width: 390, height: 844 } })).newPage();
    const found: string[] = [];
    const scan = async (where: string) => void found.push(...(await violationsOn(page, where, { colorSchemes: themes })));
    await openWithCard(page, `${stage.url}/contact`);
    await banner(page).waitFor();
    await scan("banner, card and form");
    await act("Manage preferences");
    await scan("preferences");
    await act("Decline all");
    await sendLetter(page);
    await expect.poll(() => faultsIn(page, "main form")).toHaveLength(3);
    await scan("form with faults");
    await page.locator("main h1").click();
    await card(page).getByRole("button", { name: "Give Feedback" }).click();
    await page.getByRole("button", { name: "Send Feedback" }).click();
    await page.getByText("Validation Error").waitFor();
    await scan("dialog with faults and toast");
    expect(found).toEqual([]);
  });
});
