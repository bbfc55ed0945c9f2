/** Which model the dialog to ask again preselects: never a dearer one or one of another kind that the person has not chosen. */
import type { Page } from "playwright-core";
import { beforeEach, expect, it } from "vitest";
import chat from "#client/i18n/locales/en/chat.json" with { type: "json" };
import type { ModelList } from "#contract/catalogue.ts";
import type { Conversation } from "#contract/conversations.ts";
import type { Receipt } from "#contract/generations/generations.ts";
import { modelsAt, startOf } from "#domain/models.ts";
import { usualPicture } from "#domain/pictures.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open, starter } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

/** What is offered on that day, without those that are out of order. */
function listOn(day: string, paused: readonly string[] = []): ModelList {
  return {
    models: modelsAt(startOf(day)).map((model) => {
      const isPaused = paused.includes(model.id);
      const told = { available: !isPaused, pausedSeconds: isPaused ? 300 : null, sandbox: false, successor: null, until: null };
      return { ...model, ...told };
    }),
  };
}

const ids = { conversation: "0198c0de-0000-7000-8000-00000000000c", question: "0198c0de-0000-7000-8000-0000000000a1" };

function answeredBy(modelId: string, more: Partial<Receipt> = {}): Conversation {
  const at = "2026-12-01T11:00:00.000Z";
  return {
    ...{ id: ids.conversation, title: "Mosaics", pinned: false, earlierThan: null, streamingGenerationId: null },
    ...{ createdAt: at, updatedAt: at, headId: "0198c0de-0000-7000-8000-0000000000a2" },
    messages: [
      {
        ...{ id: ids.question, parentId: null, role: "user", timestamp: at, receipt: null },
        parts: [{ kind: "text", text: "A mosaic of a fish" }],
      },
      {
        ...{ id: "0198c0de-0000-7000-8000-0000000000a2", parentId: ids.question, role: "assistant", timestamp: at },
        parts: [{ kind: "text", text: "Here it is." }],
        receipt: {
          ...{ generationId: "0198c0de-0000-7000-8000-0000000000b1", modelId, status: "completed", failureCode: null },
          ...{ heldCredits: 5, chargedCredits: 5, availableAfter: 295, cutShort: false, trimmedMessages: 0, createdAt: at, endedAt: at },
          ...more,
        },
      },
    ],
  };
}

async function openDialog(conversation: Conversation) {
  api.answerAt("GET /api/conversations/:id", ids.conversation, conversation);
  page = await open(site, `/ai-models?conversation=${ids.conversation}`, { member: true });
  await page.getByRole("button", { name: chat.versions.again, exact: true }).click();
  const dialog = page.getByRole("dialog", { name: chat.versions.again });
  const model = dialog.getByLabel(chat.receipt.model, { exact: true });
  await model.waitFor();
  const send = dialog.getByRole("button", { name: /^Ask again/ });
  return { dialog, model, send, offered: () => model.locator("option").allTextContents() };
}

beforeEach(() => {
  api.answer("POST /api/functions/reliable-subscription-check", starter);
  api.answer("GET /api/conversations", { conversations: [], nextCursor: null });
});

it("the successor of a model that has ended is chosen, if it is of the same kind and no dearer, and both are named", async () => {
  api.answer("GET /api/models", listOn("2026-12-11"));
  const { dialog, model, send } = await openDialog(answeredBy("gpt-5"));
  await dialog.getByText("GPT-5 can't be asked at the moment; GPT-6.1 Sol is its successor.").waitFor();
  expect(await model.inputValue()).toBe("gpt-6.1-sol");
  expect(await send.textContent()).toBe("Ask again for 5 credits");
});

it("a model that is out of order is replaced by none: what is sent has to be chosen", async () => {
  api.answer("GET /api/models", listOn("2026-12-11", ["gpt-6-luna"]));
  const { dialog, model, send } = await openDialog(answeredBy("gpt-6-luna"));
  await dialog.getByText("GPT-6 Luna can't be asked at the moment; choose another model.").waitFor();
  expect(await model.inputValue()).toBe("");
  expect(await send.isDisabled()).toBe(true);
  await model.selectOption("claude-haiku-5-5");
  await dialog.getByRole("button", { name: "Ask again for 1 credit" }).click();
  await expect.poll(() => api.calls("POST /api/generations").map(({ body }) => body)).toMatchObject([{ model: "claude-haiku-5-5" }]);
});

it("a successor that is dearer is named, and not chosen", async () => {
  const list = listOn("2026-12-11");
  const models = list.models.map((model) => (model.id === "gpt-6-luna" ? { ...model, credits: 2 } : model));
  api.answer("GET /api/models", { models });
  const { dialog, model, send } = await openDialog(answeredBy("gpt-5-mini"));
  await dialog.getByText("GPT-6 Luna is its successor.").waitFor();
  expect(await model.inputValue()).toBe("");
  expect(await send.isDisabled()).toBe(true);
});

it("pictures are asked again only of models that make pictures", async () => {
  api.answer("GET /api/models", listOn("2026-12-11", ["gpt-image-2.6-flare"]));
  const { model, send, offered } = await openDialog(answeredBy("gpt-image-2.6-flare", { picture: { ...usualPicture } }));
  expect(await offered()).toEqual([chat.model.choose, "GPT Image 2.6 Sunburst · 12 credits"]);
  expect(await model.inputValue()).toBe("");
  expect(await send.isDisabled()).toBe(true);
});
