import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { full } from "#tests/support/full.ts";
import { hasTurn } from "#tests/support/turns.ts";
import type { Visitor } from "#tests/support/visitor.ts";
import type { Stage } from "./support.ts";
import { ask, hold, order, pageOf, setStage } from "./support.ts";

const marker = "Sandbox answer, written on this machine";

/** The text of the newest answer, without its author and receipt. */
async function wordsOf(page: Page): Promise<string> {
  return page
    .locator("article")
    .last()
    .evaluate((article) => article.querySelector("[class*=markdown]")?.textContent ?? "");
}

async function waitForWords(page: Page, atLeast: number): Promise<string> {
  await expect.poll(async () => (await wordsOf(page)).length).toBeGreaterThan(atLeast);
  return wordsOf(page);
}

/** The credits charged for each answer so far. */
async function charges(visitor: Visitor): Promise<number[]> {
  const { lines } = await visitor.json<{ lines: { kind: string; credits: number }[] }>("GET", "/api/credits/ledger");
  return lines.filter(({ kind }) => kind === "capture").map(({ credits }) => credits);
}

/** The stored answer's text, read from a new page that did not receive the stream. */
async function storedWords(page: Page): Promise<string> {
  const fresh = await page.context().newPage();
  await fresh.goto(page.url());
  const words = await waitForWords(fresh, 40);
  await fresh.close();
  return words;
}

describe("answers in Chromium", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
  }, 150_000);
  beforeEach(() => goOn());
  afterEach(() => stage?.devices.takeBack());
  afterAll(() => stage?.close());

  const goOn = () => order(stage, "/models/pace", { paceMs: 12 });
  /** So that the middle of the answer is still to come when its first words have been seen, on a busy machine too. */
  const slowly = () => order(stage, "/models/pace", { paceMs: 200 });

  async function open(options: BrowserContextOptions = {}): Promise<{ visitor: Visitor; page: Page }> {
    const visitor = await stage.person(true);
    return { visitor, page: await pageOf(stage, visitor, options) };
  }

  it("a reload in the middle of an answer resumes it; it is complete and charged once", async () => {
    const { visitor, page } = await open();
    await slowly();
    await ask(page, stage, "A detailed answer about mosaics, please");
    const before = await waitForWords(page, 60);
    await hold(stage);
    await page.reload();
    await waitForWords(page, 40);
    await goOn();
    await page.getByText("1 credit charged, 299 left").first().waitFor();
    const after = await wordsOf(page);
    expect(after.length).toBeGreaterThan(before.length);
    expect(after.split(marker)).toHaveLength(2);
    expect(after).toBe(await storedWords(page));
    expect(await charges(visitor)).toEqual([-1]);
  });

  // first-day.test.ts sees this every day on a phone.
  it.runIf(full)("every question, even the first one, stays visible while it is answered", async () => {
    const { page } = await open();
    const articles = () => page.locator("article").allTextContents();
    await ask(page, stage, "A first question about arches");
    await waitForWords(page, 20);
    expect(await articles()).toEqual([expect.stringContaining("about arches"), expect.stringContaining("Sandbox answer")]);
    await page.getByText("1 credit charged, 299 left").first().waitFor();
    await page.getByLabel("Your prompt").fill("A second question about vaults");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await articles()).length).toBe(4);
    const [first, , second] = await articles();
    expect([first, second]).toEqual([expect.stringContaining("about arches"), expect.stringContaining("about vaults")]);
  });

  it("while an answer runs, other pages show its conversation, its question and the credits that are left", async () => {
    const { page } = await open();
    const [chat, wallet] = [await page.context().newPage(), await page.context().newPage()];
    await chat.goto(`${stage.url}/ai-models`);
    await chat.getByText("This answer costs 1 credit").waitFor();
    await wallet.goto(`${stage.url}/profile`);
    const left = wallet.getByRole("region", { name: "Wallet", exact: true });
    await left.getByText("300", { exact: true }).first().waitFor();
    await hold(stage);
    await ask(page, stage, "A question that other pages show");
    await chat.getByRole("navigation", { name: "Conversations" }).getByRole("link", { name: "A question that other pages show" }).click();
    await chat.locator("article").getByText("A question that other pages show").waitFor();
    await left.getByText("299", { exact: true }).first().waitFor();
    await chat.getByRole("button", { name: "Stop", exact: true }).waitFor();
  });

  it.runIf(full)("a new conversation preselects the model used last, even after a reload, and a small one at first", async () => {
    const { page } = await open();
    await page.goto(`${stage.url}/ai-models`);
    await page.getByText("This answer costs 1 credit").waitFor();
    await page.goto(`${stage.url}/ai-models?model=gpt-6.1-sol`);
    await page.getByLabel("Your prompt").fill("Which stones last");
    await page.getByText("This answer costs 5 credits").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("5 credits charged, 295 left").first().waitFor();
    await page.goto(`${stage.url}/ai-models`);
    await page.getByLabel("Your prompt").fill("And which do not");
    await page.getByText("This answer costs 5 credits").waitFor();
    expect(await page.getByRole("button", { name: "Send", exact: true }).isEnabled()).toBe(true);
  });

  it("a lost connection in the middle of an answer is shown, and the answer continues where it was, charged once", async () => {
    const { visitor, page } = await open();
    await slowly();
    await ask(page, stage, "A detailed answer about harbours, please");
    await waitForWords(page, 60);
    await hold(stage);
    await stage.line.cut();
    await page.getByText("Connection lost").waitFor();
    await stage.line.mend();
    await goOn();
    await page.getByText("1 credit charged, 299 left").first().waitFor();
    const words = await wordsOf(page);
    expect(words.split(marker)).toHaveLength(2);
    expect(words).toBe(await storedWords(page));
    expect(await charges(visitor)).toEqual([-1]);
  });

  it.runIf(hasTurn("media", "search"))(
    "an answer from the web has its sources as cards, to which the numbers in its text lead",
    async () => {
      const { page } = await open();
      await page.goto(`${stage.url}/ai-models?model=sonar`);
      await page.getByLabel("Your prompt").fill("Which otters are back");
      await page.getByText("This answer costs 2 credits").waitFor();
      await page.keyboard.press("Enter");
      await page.getByText("2 credits charged, 298 left").first().waitFor();
      await page.getByRole("region", { name: "Sources" }).getByRole("link").first().waitFor();
      const address = page.url();
      await page
        .getByRole("link", { name: /^Source 1: / })
        .first()
        .focus();
      await page.keyboard.press("Enter");
      expect(await page.locator(":focus").getAttribute("id")).toMatch(/source-1$/);
      expect(page.url()).toBe(address);
    },
  );

  it("a stop before the first word is free", async () => {
    const { visitor, page } = await open();
    await order(stage, "/models/fault", { model: "gpt-6-luna", fault: "slow_first_token", count: 1, delayMs: 20_000 });
    await ask(page, stage, "A question nobody waits for");
    await page.getByText("Stopping now costs nothing.").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByText("You stopped it before the first word. Nothing was charged.").first().waitFor();
    expect((await visitor.wallet()).available).toBe(300);
    expect(await charges(visitor)).toEqual([]);
  });

  it("a stopped answer is marked as stopped, on another page too, and one's own prompt can be copied", async () => {
    const { page } = await open({ permissions: ["clipboard-read", "clipboard-write"] });
    await slowly();
    await ask(page, stage, "A question with enough of an answer");
    await waitForWords(page, 20);
    await hold(stage);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByText("1 credit charged, 299 left").first().waitFor();
    for (let seen = 0; seen < 2; seen += 1) {
      await page.getByText("You stopped it here.").waitFor();
      expect(await wordsOf(page)).not.toContain("*");
      await page.reload();
    }
    await page.getByRole("button", { name: "Copy prompt" }).click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("A question with enough of an answer");
  });

  it("a conversation can be renamed, pinned and found by its words with the keyboard alone", async () => {
    const { visitor, page } = await open();
    for (const prompt of ["How is lime burnt?", "Which stones last?"]) await visitor.ask({ prompt });
    await page.goto(`${stage.url}/ai-models`);
    const titles = page.getByRole("navigation", { name: "Conversations" }).locator("li a");
    await expect.poll(() => titles.allTextContents()).toEqual(["Which stones last?", "How is lime burnt?"]);
    const choose = async (name: string, item: string) => {
      await page.getByRole("button", { name: `Options for “${name}”` }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: item, exact: true }).focus();
      await page.keyboard.press("Enter");
    };
    await choose("How is lime burnt?", "Pin");
    await page.getByRole("heading", { name: "Pinned" }).waitFor();
    await expect.poll(() => titles.allTextContents()).toEqual(["How is lime burnt?", "Which stones last?"]);
    await choose("Which stones last?", "Rename");
    await page.getByRole("textbox", { name: "Title" }).fill("Stones");
    await page.keyboard.press("Enter");
    await expect.poll(() => titles.allTextContents()).toEqual(["How is lime burnt?", "Stones"]);
    // The list can learn the new title from the live event while the dialog still waits for its response and has the focus.
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await page.getByRole("textbox", { name: "Search conversations" }).fill("STONES LAST");
    await expect.poll(() => page.locator("mark").allTextContents()).toEqual(["stones last"]);
    await expect.poll(() => titles.count()).toBe(1);
    await page.keyboard.press("Escape");
    await expect.poll(() => titles.count()).toBe(2);
  });

  it("a failed answer says that nothing was charged, keeps its text and can be asked again", async () => {
    const { visitor, page } = await open();
    await order(stage, "/models/fault", { model: "gpt-6-luna", fault: "die_mid_stream", count: 1, afterTokens: 30 });
    await ask(page, stage, "A question whose answer breaks off");
    await page.getByText("This answer failed. Nothing was charged.").waitFor();
    expect((await wordsOf(page)).length).toBeGreaterThan(0);
    expect((await visitor.wallet()).available).toBe(300);
    await page.getByRole("button", { name: "Ask again for 1 credit" }).click();
    await page.getByText("1 credit charged, 299 left").first().waitFor();
    expect(await charges(visitor)).toEqual([-1]);
  });
});
