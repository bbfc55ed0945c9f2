/** Clips in Chromium: asked for in a conversation, followed across a reload and on a second device, played, kept in the gallery, deleted. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { full } from "#tests/support/full.ts";
import { hasTurn } from "#tests/support/turns.ts";
import type { Stage } from "./support.ts";
import { hold, order, pageOf, setStage } from "./support.ts";

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };
const devices = full ? { "a phone": phone, "a desktop": {} } : { "a phone": phone };

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(axePath, "utf8"));
  const report = await page.evaluate<{ violations: { id: string; nodes: { target: unknown }[] }[] }>(
    "axe.run(document, { resultTypes: ['violations'] })",
  );
  return report.violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} at ${String(target)}`));
}

/** Width, height and length of what the browser has read of a clip; then it is played from its middle, which takes a range of the file. */
const played = `new Promise((resolve, reject) => {
  const video = document.querySelector("video");
  const play = () => {
    video.muted = true;
    video.currentTime = video.duration / 2;
    video.ontimeupdate = () => video.currentTime > video.duration / 2 && resolve([video.videoWidth, video.videoHeight, video.duration]);
    video.play().catch(reject);
  };
  if (video.readyState > 0) play();
  else video.onloadedmetadata = play;
})`;

describe.runIf(hasTurn("media", "clips"))("clips", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
  }, 150_000);
  afterEach(() => stage?.devices.takeBack());
  afterAll(() => stage?.close());

  it.each(Object.entries(devices))("on %s are followed everywhere, played, and kept until they are deleted", async (_name, options) => {
    const visitor = await stage.person(true);
    const page = await pageOf(stage, visitor, options);
    await page.goto(`${stage.url}/ai-models?model=grok-imagine-video-1.5`);
    await page.getByLabel("Your prompt", { exact: true }).fill("A boat on the sea");
    await page.getByRole("radio", { name: "4 sec" }).press("Space");
    await page.getByText("This costs 50 credits").waitFor();
    expect(await violations(page)).toEqual([]);

    await hold(stage);
    await page.getByRole("button", { name: /^Send/ }).click();
    await page.getByText("Your clip is being made.").waitFor();
    expect(await page.getByRole("button", { name: "Stop" }).isDisabled()).toBe(true);
    expect(await violations(page)).toEqual([]);
    await page.reload();
    await page.getByText("Your clip is being made.").waitFor();
    const other = await pageOf(stage, visitor);
    await other.goto(page.url());
    await other.getByText("Your clip is being made.").waitFor();
    await order(stage, "/models/pace", { paceMs: 0 });
    await page.locator("video").waitFor();
    expect(await page.evaluate(played)).toEqual([1280, 720, 4]);
    await other.locator("video").waitFor();
    expect(await page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth")).toBe(true);

    await page.goto(`${stage.url}/profile/pictures`);
    await page.getByText(/^Your files take [\d.]+ [kM]B of 1 GB/).waitFor();
    await page.getByRole("button", { name: "A boat on the sea, 4 sec" }).click();
    expect(await violations(page)).toEqual([]);
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    expect((await saving).suggestedFilename()).toBe("A boat on the sea.mp4");
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete this clip?" }).getByRole("button", { name: "Delete" }).click();
    await page.getByText("No pictures or clips yet").waitFor();
    const { lines } = await visitor.json<{ lines: { kind: string; credits: number }[] }>("GET", "/api/credits/ledger");
    expect(lines.filter(({ kind }) => kind === "capture").map(({ credits }) => Math.abs(credits))).toEqual([50]);
  });
});
