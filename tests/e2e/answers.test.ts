import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Visitor } from "#tests/support/visitor.ts";
import type { Stage } from "./support.ts";
import { ask, deviceOf, order, setStage } from "./support.ts";

const marker = "Sandbox answer, written on this machine";

/** The words of the newest answer, without its author and receipt. */
async function wordsOf(page: Page): Promise<string> {
  return page
    .locator("article")
    .last()
    .evaluate((article) => article.querySelector("[class*=markdown]")?.textContent ?? "");
}

async function waitForWords(page: Page, atLeast: number): Promise<string> {
  await expect.poll(async () => (await wordsOf(page)).length, { timeout: 20_000, interval: 50 }).toBeGreaterThan(atLeast);
  return wordsOf(page);
}

/** What was charged for answers so far, one figure each. */
async function charges(visitor: Visitor): Promise<number[]> {
  const { lines } = await visitor.json<{ lines: { kind: string; credits: number }[] }>("GET", "/api/credits/ledger");
  return lines.filter(({ kind }) => kind === "capture").map(({ credits }) => credits);
}

/** The answer as it is stored, drawn by a page that saw nothing of its stream. */
async function storedWords(page: Page): Promise<string> {
  const fresh = await page.context().newPage();
  await fresh.goto(page.url());
  const words = await waitForWords(fresh, 40);
  await fresh.close();
  return words;
}

describe("answers in Chromium (acceptance 19, 20)", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
    await order(stage, "/models/pace", { paceMs: 12 });
  }, 150_000);
  afterAll(() => stage?.close());

  async function open(): Promise<{ visitor: Visitor; page: Page }> {
    const visitor = await stage.person(true);
    const context = await deviceOf(stage, visitor);
    return { visitor, page: await context.newPage() };
  }

  it("a reload in mid-stream picks the answer up, whole and charged once", async () => {
    const { visitor, page } = await open();
    await ask(page, stage, "A detailed answer about mosaics, please");
    const before = await waitForWords(page, 60);
    await page.reload();
    await page.getByText("1 credit charged, 299 left").first().waitFor({ timeout: 30_000 });
    const after = await wordsOf(page);
    expect(after.length).toBeGreaterThan(before.length);
    expect(after.split(marker)).toHaveLength(2);
    expect(after).toBe(await storedWords(page));
    expect(await charges(visitor)).toEqual([-1]);
    await page.context().close();
  });

  it("a network cut in mid-stream is told, and the answer goes on where it was, charged once", async () => {
    const { visitor, page } = await open();
    await ask(page, stage, "A detailed answer about harbours, please");
    await waitForWords(page, 60);
    await stage.line.cut();
    await page.getByText("Connection lost").waitFor();
    await stage.line.mend();
    await page.getByText("1 credit charged, 299 left").first().waitFor({ timeout: 30_000 });
    const words = await wordsOf(page);
    expect(words.split(marker)).toHaveLength(2);
    expect(words).toBe(await storedWords(page));
    expect(await charges(visitor)).toEqual([-1]);
    await page.context().close();
  });

  it("a stop before the first word is free", async () => {
    const { visitor, page } = await open();
    await order(stage, "/models/fault", { model: "gpt-5-mini", fault: "slow_first_token", count: 1, delayMs: 20_000 });
    await ask(page, stage, "A question nobody waits for");
    await page.getByText("Stopping now costs nothing.").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByText("You stopped it before the first word. Nothing was charged.").first().waitFor();
    expect((await visitor.wallet()).available).toBe(300);
    expect(await charges(visitor)).toEqual([]);
    await page.context().close();
  });

  it("a failed answer says that nothing was charged, keeps its words and can be asked again", async () => {
    const { visitor, page } = await open();
    await order(stage, "/models/fault", { model: "gpt-5-mini", fault: "die_mid_stream", count: 1, afterTokens: 30 });
    await ask(page, stage, "A question whose answer breaks off");
    await page.getByText("This answer failed. Nothing was charged.").waitFor({ timeout: 20_000 });
    expect((await wordsOf(page)).length).toBeGreaterThan(0);
    expect((await visitor.wallet()).available).toBe(300);
    await page.getByRole("button", { name: "Ask again for 1 credit" }).click();
    await page.getByText("1 credit charged, 299 left").first().waitFor({ timeout: 30_000 });
    expect(await charges(visitor)).toEqual([-1]);
    await page.context().close();
  });
});
