/** An answer in a language that no voice speaks: who can read it, and what is said of it, before anything is paid. */
import type { Page } from "playwright-core";
import { beforeEach, expect, it } from "vitest";
import type { ModelList } from "#contract/catalogue.ts";
import type { Conversation } from "#contract/conversations.ts";
import { modelsAt, startOf } from "#domain/models.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open, starter } from "./states-support.ts";

let site: Site;
const api = onStubbedSite((opened) => {
  site = opened;
});

/** From this day on there is no voice that speaks every language. */
const models: ModelList["models"] = modelsAt(startOf("2027-01-06")).map((model) => ({
  ...model,
  ...{ available: true, pausedSeconds: null, sandbox: false, successor: null, until: null },
}));

const ids = { conversation: "0198c0de-0000-7000-8000-00000000000c", answer: "0198c0de-0000-7000-8000-0000000000b1" };

function answered(text: string): Conversation {
  const at = "2027-01-07T11:00:00.000Z";
  return {
    ...{ id: ids.conversation, title: "Mosaics", pinned: false, earlierThan: null, streamingGenerationId: null },
    ...{ createdAt: at, updatedAt: at, headId: "0198c0de-0000-7000-8000-0000000000a2" },
    messages: [
      {
        ...{ id: "0198c0de-0000-7000-8000-0000000000a2", parentId: null, role: "assistant", timestamp: at },
        parts: [{ kind: "text", text }],
        receipt: {
          ...{ generationId: ids.answer, modelId: "gpt-6-luna", status: "completed", failureCode: null, heldCredits: 1, chargedCredits: 1 },
          ...{ availableAfter: 295, cutShort: false, trimmedMessages: 0, createdAt: at, endedAt: at },
        },
      },
    ],
  };
}

const sent = () => api.calls("POST /api/generations").map(({ body }) => body);

async function readAloud(text: string, locale: string, label: string): Promise<Page> {
  api.answerAt("GET /api/conversations/:id", ids.conversation, answered(text));
  const page = await open(site, `/ai-models?conversation=${ids.conversation}`, { member: true, locale });
  await page.getByRole("button", { name: label, exact: true }).click();
  return page;
}

beforeEach(() => {
  api.answer("POST /api/functions/reliable-subscription-check", starter);
  api.answer("GET /api/models", { models });
  api.answer("GET /api/conversations", { conversations: [], nextCursor: null });
  api.refuse("POST /api/generations", 409, "price_changed");
});

it("in Latin letters it is read by any voice, an English one unless another is chosen, and it is said that no voice speaks the language", async () => {
  const page = await readAloud("A mosaic is made of many small stones.", "pl-PL", "Czytaj na głos");
  await page.getByText(/żaden głos nie mówi w tym języku: polski/).waitFor();
  const voice = page.getByRole("combobox", { name: "Głos" });
  expect(await voice.locator("option:checked").textContent()).toMatch(/^Sarah · angielski$/);
  expect(await voice.locator("option").count()).toBe(10);
  await voice.selectOption("voice_592");
  await page.getByRole("button", { name: /^Czytaj na głos za 2/ }).click();
  await expect.poll(sent).toMatchObject([{ reads: ids.answer, speech: { voice: "voice_592" } }]);
});

it("in letters that no voice can read, that is said, and nothing is for sale", async () => {
  const page = await readAloud("Мозаика состоит из множества камней.", "en-GB", "Read aloud");
  await page.getByText("No voice reads texts in this language at the moment: Russian.").waitFor();
  expect(await page.getByRole("button", { name: /^Read aloud for/ }).count()).toBe(0);
});

it("a text that is typed for a voice is not sent if none can read its letters", async () => {
  const page = await open(site, "/ai-models?model=voxtral-mini-tts-3-0", { member: true });
  const prompt = page.getByLabel("Your prompt");
  await prompt.fill("Мозаика состоит из множества камней.");
  await page.getByText("No voice reads texts in this language at the moment: Russian.").waitFor();
  await prompt.press("Enter");
  expect(sent()).toEqual([]);
  await prompt.fill("A mosaic is made of many small stones.");
  await page.getByRole("combobox", { name: "Voice" }).waitFor();
  await prompt.press("Enter");
  await expect.poll(() => sent().length).toBe(1);
});
