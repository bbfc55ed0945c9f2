/** A prompt taken from a guide to the chat arrives there, and the draft that was there is not lost. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { full } from "#tests/support/full.ts";
import { kept, keptKeys } from "./device-database.ts";
import type { Stage } from "./support.ts";
import { pageOf, setStage } from "./support.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
}, 180_000);
afterEach(() => stage?.devices.takeBack());
afterAll(() => stage?.close());

/** The stored draft of a new conversation. It is stored shortly after it is shown. */
async function keptDraft(page: Page): Promise<string | undefined> {
  const key = (await keptKeys(page)).find((candidate) => /^draft:.+:new$/.test(candidate));
  return key === undefined ? undefined : ((await kept(page, key)) as { text: string }).text;
}

it("a guide's prompt fills a subscriber's composer; an earlier draft is set aside and can be restored", async () => {
  const page = await pageOf(stage, await stage.person(true));
  const composer = page.getByLabel("Your prompt");
  const value = () => composer.inputValue();

  await page.goto(`${stage.url}/ai-models`);
  await composer.fill("Half a letter to the landlord");
  await expect.poll(() => keptDraft(page)).toBe("Half a letter to the landlord");
  await page.goto(`${stage.url}/marketing`);
  const card = page.getByRole("figure", { name: /^Prompt for / }).first();
  await card.getByRole("link", { name: "Try this prompt" }).click();

  await composer.waitFor();
  await expect.poll(value).toMatch(/\[.+\]/);
  const prompt = await value();
  await page.getByText("Your earlier draft is put aside.").waitFor();
  // The prompt is removed from the address, because the device stores it; a reload shows the same.
  await expect.poll(() => new URL(page.url()).search).toBe("");
  await page.reload();
  await composer.waitFor();
  await expect.poll(value).toBe(prompt);

  await page.getByRole("button", { name: "Bring it back" }).click();
  await expect.poll(value).toBe("Half a letter to the landlord");
  await expect.poll(() => keptDraft(page)).toBe("Half a letter to the landlord");
  await page.reload();
  await composer.waitFor();
  await expect.poll(value).toBe("Half a letter to the landlord");
  await page.getByRole("button", { name: "Bring it back" }).click();
  await expect.poll(value).toBe(prompt);
});

it.runIf(full)("a prompt brought along before signing in is there afterwards, even in another tab", async () => {
  const visitor = await stage.person(true);
  const page = await pageOf(stage);
  await page.goto(`${stage.url}/ai-models?prompt=A+notice+for+the+door&model=gpt-6-luna`);
  await page.getByRole("region", { name: "Your prompt for GPT-6 Luna is waiting" }).waitFor();

  const later = await page.context().newPage();
  await later.goto(`${stage.url}/auth?return=%2Fai-models`);
  await later.getByLabel("Email", { exact: true }).fill(visitor.email);
  await later.getByLabel("Password", { exact: true }).fill(visitor.password);
  await later.getByRole("main").getByRole("button", { name: "Sign in", exact: true }).click();
  await later.waitForURL("**/ai-models");
  await expect.poll(() => later.getByLabel("Your prompt").inputValue()).toBe("A notice for the door");
  await later.getByText("This answer costs 1 credit").waitFor();
});
