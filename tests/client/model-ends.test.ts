/** What somebody sees of a model that is about to end or has ended: in the picker, at the composer and in a conversation that used it. */
import type { Page } from "playwright-core";
import { beforeEach, expect, it } from "vitest";
import chat from "#client/i18n/locales/en/chat.json" with { type: "json" };
import refusals from "#client/i18n/locales/en/refusals.json" with { type: "json" };
import type { ModelList } from "#contract/catalogue.ts";
import type { Conversation } from "#contract/conversations.ts";
import { modelsAt, startOf } from "#domain/models.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open, starter } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

/** What the server answers on that day. */
function listOn(day: string): ModelList {
  const told = { available: true, pausedSeconds: null, sandbox: false, successor: null };
  return {
    models: modelsAt(startOf(day)).map((model) => ({ ...model, ...told, until: model.until === "2026-12-11" ? model.until : null })),
  };
}

const conversation: Conversation = {
  ...{ id: "0198c0de-0000-7000-8000-00000000000c", title: "Mosaics", pinned: false, earlierThan: null, streamingGenerationId: null },
  ...{ createdAt: "2026-12-01T11:00:00.000Z", updatedAt: "2026-12-01T11:00:00.000Z", headId: "0198c0de-0000-7000-8000-0000000000a2" },
  messages: [
    {
      ...{ id: "0198c0de-0000-7000-8000-0000000000a1", parentId: null, role: "user", timestamp: "2026-12-01T11:00:00.000Z", receipt: null },
      parts: [{ kind: "text", text: "Tell me about mosaics" }],
    },
    {
      ...{ id: "0198c0de-0000-7000-8000-0000000000a2", parentId: "0198c0de-0000-7000-8000-0000000000a1", role: "assistant" },
      timestamp: "2026-12-01T11:00:01.000Z",
      parts: [{ kind: "text", text: "A mosaic is made of many small stones." }],
      receipt: {
        ...{ generationId: "0198c0de-0000-7000-8000-0000000000b1", modelId: "gpt-5", status: "completed", failureCode: null },
        ...{ heldCredits: 5, chargedCredits: 5, availableAfter: 295, cutShort: false, trimmedMessages: 0 },
        ...{ createdAt: "2026-12-01T11:00:00.000Z", endedAt: "2026-12-01T11:00:02.000Z" },
      },
    },
  ],
};
const address = `/ai-models?conversation=${conversation.id}`;
const sent = () => api.calls("POST /api/generations").map(({ body }) => body);
const prompt = () => page.getByRole("textbox", { name: chat.composer.label });
const send = () => page.getByRole("button", { name: "Send", exact: true });

beforeEach(() => {
  api.answer("POST /api/functions/reliable-subscription-check", starter);
  api.answerAt("GET /api/conversations/:id", conversation.id, conversation);
  api.answer("GET /api/conversations", { conversations: [conversation], nextCursor: null });
  api.answer("GET /api/models", listOn("2026-12-10"));
});

it("a model that is about to end says on which day it leaves: on its tile, and beside the price of the next answer", async () => {
  // West of Greenwich it is still the day before at midnight in UTC.
  page = await open(site, address, { member: true, timezoneId: "America/Los_Angeles" });
  await page.getByText("Leaves on December 11").waitFor();
  await prompt().fill("And then?");
  expect(await send().isEnabled()).toBe(true);
  await page.getByRole("button", { name: "Change model, now GPT-5" }).click();
  const tiles = page.getByRole("dialog", { name: chat.model.choose }).getByRole("listitem");
  const leaving = await tiles.filter({ hasText: "Leaves on December 11" }).allTextContents();
  expect(leaving.map((tile) => /^(GPT-5 Mini|GPT-5 Search|GPT-5)/.exec(tile)?.[1]).toSorted()).toEqual([
    "GPT-5",
    "GPT-5 Mini",
    "GPT-5 Search",
  ]);
  // A model is found by what its tile says of it, and the tile says how much the model takes.
  const find = page.getByRole("searchbox", { name: chat.filter.search });
  await find.fill("mistral recordings");
  await tiles.filter({ hasText: "Up to 120 minutes and 25 MB" }).waitFor();
  expect(await tiles.count()).toBe(1);
  await find.fill("nothing is called that");
  await page.getByText(chat.filter.none).waitFor();
});

it("a conversation goes on with the successor after one tap that names its price; nothing is chosen silently, and the answers keep their model", async () => {
  api.answer("GET /api/models", listOn("2026-12-11"));
  page = await open(site, address, { member: true });
  await page.getByText("GPT-5 has ended.").waitFor();
  await prompt().fill("And then?");
  expect(await send().isDisabled()).toBe(true);
  await prompt().press("Enter");
  expect(sent()).toEqual([]);
  const article = page.locator("article").filter({ hasText: "A mosaic is made" });
  expect(await article.textContent()).toMatch(/^GPT-5A mosaic is made/);

  await page.getByRole("button", { name: "Use GPT-6.1 Sol for 5 credits" }).click();
  await page.getByText("This answer costs 5 credits").waitFor();
  await prompt().press("Enter");
  await expect.poll(sent).toMatchObject([{ model: "gpt-6.1-sol", quotedCredits: 5, prompt: "And then?", conversationId: conversation.id }]);
  expect(await article.textContent()).toMatch(/^GPT-5A mosaic is made/);

  await page.getByRole("button", { name: "Change model, now GPT-6.1 Sol" }).click();
  const tiles = page.getByRole("dialog", { name: chat.model.choose }).getByRole("listitem");
  const names = (await tiles.allTextContents()).map((tile) => tile.slice(0, 12));
  expect(names.length).toBe(listOn("2026-12-11").models.length);
  expect(names.filter((name) => /^GPT-5/.test(name))).toEqual([]);
});

it("a page that was open when the model ended is told by the server, keeps the prompt, and offers the successor", async () => {
  page = await open(site, address, { member: true });
  await page.getByText("Leaves on December 11").waitFor();
  api.answer("GET /api/models", listOn("2026-12-11"));
  api.refuse("POST /api/generations", 422, "model_retired", { quotedCredits: 5, successor: "gpt-6.1-sol" });
  await prompt().fill("And then?");
  await prompt().press("Enter");
  await page.getByText(refusals.model_retired).waitFor();
  await page.getByText("GPT-5 has ended.").waitFor();
  expect(await prompt().inputValue()).toBe("And then?");
  await page.getByRole("button", { name: "Use GPT-6.1 Sol for 5 credits" }).click();
  await page.getByText("This answer costs 5 credits").waitFor();
  await prompt().press("Enter");
  await expect.poll(() => sent().at(-1)).toMatchObject({ model: "gpt-6.1-sol", prompt: "And then?" });
});
