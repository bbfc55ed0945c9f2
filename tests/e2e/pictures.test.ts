/** Pictures in Chromium: asked for in a conversation, seen while they are made, opened, begun from, kept in the gallery, deleted. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsOn } from "#tests/support/accessibility.ts";
import { full } from "#tests/support/full.ts";
import { hasTurn } from "#tests/support/turns.ts";
import type { Stage } from "./support.ts";
import { hold, order, pageOf, setStage } from "./support.ts";

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };
const devices = full ? { "a phone": phone, "a desktop": {} } : { "a phone": phone };

const loaded = (page: Page) => page.locator("main ul img[data-loaded]");

async function isInside(page: Page): Promise<boolean> {
  return page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth");
}

describe.runIf(hasTurn("media", "pictures"))("pictures", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
  }, 150_000);
  afterEach(() => stage?.devices.takeBack());
  afterAll(() => stage?.close());

  it.each(Object.entries(devices))("on %s are made, seen in full, begun from, and kept until they are deleted", async (_name, options) => {
    const visitor = await stage.person(true);
    const page = await pageOf(stage, visitor, options);
    await page.goto(`${stage.url}/ai-models?model=gpt-image-2.6-flare`);
    await page.getByLabel("Your prompt").fill("A boat on the sea");
    await page.getByRole("radio", { name: "2", exact: true }).press("Space");
    await page.getByText("This costs 20 credits").waitFor();
    expect(await isInside(page)).toBe(true);
    expect(await violationsOn(page, "the composer")).toEqual([]);

    await hold(stage);
    await page.getByRole("button", { name: /^Send/ }).click();
    await page.getByText("Pictures ready: 0 of 2").waitFor();
    await page.reload();
    await page.getByText("Pictures ready: 0 of 2").waitFor();
    await order(stage, "/models/pace", { paceMs: 0 });
    await page.getByText("Pictures: 2 of 2 · 20 credits", { exact: true }).waitFor();
    await expect.poll(() => loaded(page).count()).toBe(2);
    expect(await loaded(page).first().getAttribute("alt")).toBe("A boat on the sea");

    // An edited question is asked in the same way.
    await page.getByRole("button", { name: "Edit prompt" }).click();
    await page.getByRole("dialog").getByText("This answer costs 20 credits").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();

    await page.getByRole("button", { name: "A boat on the sea", exact: true }).first().click();
    await page.getByText("1 of 2", { exact: true }).waitFor();
    expect(await violationsOn(page, "the full view")).toEqual([]);
    await page.keyboard.press("ArrowRight");
    await page.getByText("2 of 2", { exact: true }).waitFor();
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    expect((await saving).suggestedFilename()).toBe("A boat on the sea.png");
    await page.getByRole("button", { name: "Edit this" }).click();

    const more = page.getByRole("button", { name: "More options" });
    if (await more.isVisible()) await more.click();
    const asked = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Begin from a picture" }).click();
    if ("hasTouch" in options) await page.getByRole("button", { name: "Take a photo" }).click();
    expect(await (await asked).element().getAttribute("capture")).toBe("hasTouch" in options ? "environment" : null);
    await page.getByRole("button", { name: "Change only a part" }).click();
    const canvas = page.locator("canvas");
    await canvas.press("ArrowUp");
    await canvas.press(" ");
    await page.getByRole("button", { name: "Change this part" }).click();
    await page.getByRole("button", { name: "Paint the part again" }).waitFor();
    await page.getByLabel("Your prompt").fill("The boat is red");
    await page.getByRole("radio", { name: "1", exact: true }).press("Space");
    await page.getByRole("button", { name: /^Send/ }).click();
    await page.getByText("Pictures: 1 of 1 · 10 credits", { exact: true }).waitFor();

    await page.goto(`${stage.url}/profile/pictures`);
    await expect.poll(() => loaded(page).count()).toBe(3);
    expect(await isInside(page)).toBe(true);
    expect(await violationsOn(page, "the gallery")).toEqual([]);
    await page.getByRole("button", { name: "The boat is red" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete this picture?" }).getByRole("button", { name: "Delete" }).click();
    await expect.poll(() => loaded(page).count()).toBe(2);
    const lines = await visitor.json<{ lines: { kind: string; credits: number }[] }>("GET", "/api/credits/ledger");
    expect(lines.lines.filter(({ kind }) => kind === "capture").map(({ credits }) => Math.abs(credits))).toEqual([10, 20]);
  });
});
