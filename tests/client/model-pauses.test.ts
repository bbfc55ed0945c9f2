/** A model that is out of order says when it is tried again, on its tile and at the composer, and works again by itself. */
import { beforeEach, expect, it } from "vitest";
import chat from "#client/i18n/locales/en/chat.json" with { type: "json" };
import type { ModelList } from "#contract/catalogue.ts";
import { modelsAt, startOf } from "#domain/models.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open, starter } from "./states-support.ts";

let site: Site;
const api = onStubbedSite((opened) => {
  site = opened;
});

function listWith(pausedSeconds: number | null): ModelList {
  const usual = { sandbox: false, successor: null, until: null };
  return {
    models: modelsAt(startOf("2026-12-11")).map((model) => {
      const paused = model.id === "gpt-6-luna" ? pausedSeconds : null;
      return { ...model, ...usual, available: paused === null, pausedSeconds: paused };
    }),
  };
}

beforeEach(() => {
  api.answer("POST /api/functions/reliable-subscription-check", starter);
});

it("in minutes and then in seconds, until it can be used again without a reload", async () => {
  api.answer("GET /api/models", listWith(119));
  const page = await open(site, "/ai-models?model=gpt-6-luna", { member: true });
  await page.getByText("GPT-6 Luna can't be reached right now. Next try in 2 minutes.").waitFor();
  api.answer("GET /api/models", listWith(3));
  await page.reload();
  await page.getByText(/GPT-6 Luna can't be reached right now\. Next try in [123] seconds?\./).waitFor();
  api.answer("GET /api/models", listWith(null));
  await page.getByText("This answer costs 1 credit").waitFor();
});

it("a list that could not be asked for at that time is asked for again", async () => {
  api.answer("GET /api/models", listWith(1));
  const page = await open(site, "/ai-models?model=gpt-6-luna", { member: true });
  await page.getByText(/GPT-6 Luna can't be reached right now/).waitFor();
  api.refuse("GET /api/models", 503, "service_unavailable");
  await expect.poll(() => api.calls("GET /api/models").length).toBeGreaterThan(1);
  api.answer("GET /api/models", listWith(null));
  await page.getByText("This answer costs 1 credit").waitFor();
});

it("on the tiles of those who only look as well, where each says what the model reads, sees and answers", async () => {
  api.answer("GET /api/models", listWith(119));
  const page = await open(site, "/ai-models");
  const tiles = page.getByRole("list", { name: chat.models.label }).getByRole("listitem");
  await tiles.filter({ hasText: "Out of order, next try in 2 minutes" }).waitFor();
  const textOf = (name: string) => tiles.filter({ hasText: name }).first().textContent();
  expect(await textOf("Claude Sonnet 5.5")).toMatch(/Reads about 12 pages, writes up to 4Sees pictures and PDF pages/);
  expect(await textOf("Gemini 3.5 Flash-Lite")).toMatch(/writes up to 4Sees pictures(?! and)/);
  expect(await textOf("DeepSeek Flash")).toMatch(/writes up to 5Reads text only/);
});
