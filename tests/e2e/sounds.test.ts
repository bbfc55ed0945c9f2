/** Sounds in Chromium, with its fake microphone: recorded, written down and taken away; spoken into the composer; read aloud and played. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsOn } from "#tests/support/accessibility.ts";
import { full } from "#tests/support/full.ts";
import { hasTurn } from "#tests/support/turns.ts";
import type { Stage } from "./support.ts";
import { order, pageOf, setStage } from "./support.ts";

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };
const devices = full ? { "a phone": phone, "a desktop": {} } : { "a phone": phone };

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });

async function isInside(page: Page): Promise<boolean> {
  return page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth");
}

/** What the player of the last sound says of itself. */
async function played(page: Page): Promise<{ seconds: number; rate: number }> {
  return page.evaluate(
    "(() => { const all = document.querySelectorAll('audio'); const last = all[all.length - 1]; return { seconds: last.currentTime, rate: last.playbackRate }; })()",
  );
}

describe.runIf(hasTurn("media", "sounds"))("sounds", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
    await order(stage, "/models/pace", { paceMs: 0 });
  }, 150_000);
  afterEach(() => stage?.devices.takeBack());
  afterAll(() => stage?.close());

  it.each(Object.entries(devices))(
    "on %s are recorded and written down, spoken instead of typed, and read aloud",
    async (_name, options) => {
      const visitor = await stage.person(true);
      const page = await pageOf(stage, visitor, options);
      await page.goto(`${stage.url}/ai-models?model=voxtral-small-transcribe-3-0`);
      await page.getByText("2 credits for each started minute.").waitFor();
      await button(page, "Record").click();
      await page.getByRole("timer").getByText("0:01").waitFor();
      await button(page, "Pause the recording").click();
      await button(page, "Go on recording").click();
      await button(page, "Done").click();
      await button(page, /^Remove Recording/).waitFor();
      expect(await isInside(page)).toBe(true);
      expect(await violationsOn(page, "a recording")).toEqual([]);
      await button(page, /^Send/).click();
      await page.getByText(/^This is the sandbox of Voxtral Transcribe 3/).waitFor();
      expect(await violationsOn(page, "a transcript")).toEqual([]);
      const saving = page.waitForEvent("download");
      await button(page, "Download as SRT").click();
      expect((await saving).suggestedFilename()).toMatch(/^Recording .*\.srt$/);

      // Read aloud: its price first, then the player.
      await button(page, "Read aloud").first().click();
      await button(page, /^Read aloud for 2 credits/).click();
      await button(page, "Pause").waitFor();
      await expect.poll(async () => (await played(page)).seconds).toBeGreaterThan(0);
      await page.getByLabel("Speed").last().selectOption("1.5");
      expect((await played(page)).rate).toBe(1.5);
      expect(await isInside(page)).toBe(true);
      expect(await violationsOn(page, "the player")).toEqual([]);
      // It is found again after a reload, and costs nothing then.
      await page.reload();
      await button(page, "Read aloud").first().click();
      await page.getByRole("slider", { name: "Position" }).last().press("ArrowRight");

      // Another model, and a prompt by voice.
      await page.goto(`${stage.url}/ai-models?model=gpt-6-luna`);
      await button(page, "Dictate").click();
      await page.getByText(/It costs 2 credits for each started minute/).waitFor();
      await button(page, "Begin").click();
      await page.getByRole("timer").getByText("0:01").waitFor();
      await button(page, "Done").last().click();
      await expect.poll(() => page.getByLabel("Your prompt").inputValue()).toMatch(/^This is the sandbox of GPT Transcribe/);
      expect(await isInside(page)).toBe(true);

      const { lines } = await visitor.json<{ lines: { kind: string; credits: number }[] }>("GET", "/api/credits/ledger");
      expect(lines.filter(({ kind }) => kind === "capture").map(({ credits }) => Math.abs(credits))).toEqual([2, 2, 2]);
    },
  );
});
