/** What pages show first and how wide it is: facts of the layout that no text or state shows. */
import type { Page } from "playwright-core";
import { beforeEach, expect, it } from "vitest";
import { sectionPaths } from "#client/features/account/account-sections.tsx";
import account from "#client/i18n/locales/en/account.json" with { type: "json" };
import chat from "#client/i18n/locales/en/chat.json" with { type: "json" };
import home from "#client/i18n/locales/en/home.json" with { type: "json" };
import type { Conversation } from "#contract/conversations.ts";
import { daily } from "#tests/support/full.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open, starter } from "./states-support.ts";

const phone = { viewport: { width: 390, height: 844 } };
let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});
beforeEach(() => {
  api.answer("POST /api/functions/reliable-subscription-check", starter);
});

/** How many kinds of models stand in each row; none if one is cut off. */
async function rowsOfKinds(): Promise<number[]> {
  const kinds = page.getByRole("radiogroup", { name: chat.filter.label }).or(page.getByRole("group", { name: chat.filter.label }));
  const boxes = await kinds.locator("label").evaluateAll((labels) => labels.map((label) => label.getBoundingClientRect().toJSON()));
  if (!boxes.every(({ left, right }) => left >= 0 && right <= phone.viewport.width)) return [];
  const rows = new Map<number, number>();
  for (const { top } of boxes) rows.set(Math.round(top), (rows.get(Math.round(top)) ?? 0) + 1);
  return [...rows.values()];
}

it("on a phone all kinds of models are in view, in two rows of three, on the page and in the chat's dialog", async () => {
  page = await open(site, "/ai-models", phone);
  expect(await rowsOfKinds()).toEqual([3, 3]);
  page = await open(site, "/ai-models", { ...phone, member: true });
  await page.getByRole("button", { name: /^(Change model|Choose a model)/ }).click();
  await page.getByRole("dialog", { name: chat.model.choose }).waitFor();
  expect(await rowsOfKinds()).toEqual([3, 3]);
});

it("on a phone a prompt has the whole width of its box, with the tools in one row below it", async () => {
  page = await open(site, "/ai-models", { ...phone, member: true });
  const text = page.getByRole("textbox", { name: chat.composer.label });
  const [field, box, send, model] = await Promise.all([
    text.boundingBox(),
    text.locator("xpath=..").boundingBox(),
    page.getByRole("button", { name: /^Send/ }).boundingBox(),
    page.getByRole("button", { name: /^(Change model|Choose a model)/ }).boundingBox(),
  ]);
  if (!field || !box || !send || !model) throw new Error("not shown");
  expect(box.width - field.width).toBeLessThan(16);
  expect(send.y).toBeGreaterThanOrEqual(field.y + field.height);
  expect(Math.abs(send.y + send.height / 2 - (model.y + model.height / 2))).toBeLessThan(4);
});

it("a long list of conversations scrolls by itself: the page stays as high as the window", async () => {
  const at = new Date().toISOString();
  const conversations = Array.from({ length: 60 }, (_, index) => ({
    id: `7d0f6a52-1c1e-4a5f-9a58-3f1f5d1c9b${10 + index}`,
    title: `Conversation ${index}`,
    pinned: false,
    createdAt: at,
    updatedAt: at,
  }));
  api.answer("GET /api/conversations", { conversations, nextCursor: null });
  page = await open(site, "/ai-models", { member: true, viewport: { width: 1440, height: 900 } });
  await page.getByRole("link", { name: "Conversation 59", exact: true }).waitFor();
  // The bar's line may add a pixel.
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(901);
});

it("home shows a visitor an example of a conversation, with its price before the answer and its receipt after it", async () => {
  page = await open(site, "/");
  const example = page.getByRole("figure", { name: home.chat.label });
  expect(await example.isVisible()).toBe(true);
  const texts = await example.locator("p").allTextContents();
  const places = [home.chat.prompt, "1 credit", home.chat.first, "299 credits"].map((text) =>
    texts.findLastIndex((own) => own.includes(text)),
  );
  const price = texts.findIndex((own) => own.startsWith(home.price.receipt.price));
  const [prompt = 0, charged = 0, answer = 0, balance = 0] = places;
  expect([prompt < price, price < answer, answer < charged, charged < balance]).toEqual([true, true, true, true]);
});

it("a new conversation starts with four prompts and a short list of models, each with what it is good for", async () => {
  page = await open(site, "/ai-models", { member: true });
  const prompts = page.getByRole("list", { name: chat.prompts.label }).getByRole("button");
  await expect.poll(() => prompts.count()).toBe(4);
  const listed = page.getByRole("list", { name: chat.pick.label }).getByRole("listitem");
  await expect.poll(() => listed.count()).toBeGreaterThan(2);
  const texts = await listed.allTextContents();
  expect(texts.length).toBeLessThanOrEqual(6);
  for (const text of texts)
    expect(
      Object.values(chat.pick.goodFor).some((line) => text.includes(line)),
      text,
    ).toBe(true);
  await prompts.first().click();
  await expect.poll(() => page.getByLabel("Your prompt").inputValue()).toBe(chat.prompts.reply.text);
});

it("on a phone the form for signing in starts at the top of its panel", async () => {
  page = await open(site, "/auth", phone);
  const bar = await page.getByRole("banner").boundingBox();
  const heading = await page.getByRole("heading", { level: 1 }).boundingBox();
  expect((heading?.y ?? 0) - (bar?.y ?? 0) - (bar?.height ?? 0)).toBeLessThanOrEqual(60);
});

it("on a phone a button lists the account's sections, each as wide as the page, and a tap leads to one", async () => {
  page = await open(site, "/profile/security", { ...phone, member: true });
  const sections = page.getByRole("navigation", { name: account.sections.label });
  const opener = sections.getByRole("button", { name: account.sections.label });
  const links = sections.getByRole("link");
  await opener.waitFor();
  expect(await links.count()).toBe(0);
  await opener.click();
  const widths = await links.evaluateAll((all) => all.map((link) => link.getBoundingClientRect().width));
  expect(widths).toHaveLength(Object.keys(sectionPaths).length);
  expect(Math.round(Math.min(...widths))).toBe(Math.round((await opener.boundingBox())?.width ?? 0));
  await sections.getByRole("link", { name: account.sections.data }).click();
  await page.getByRole("heading", { level: 1, name: account.sections.data }).waitFor();
  await expect.poll(() => links.count()).toBe(0);
});

it("on a desk the account's panels fill the page: what each is for, and beside it what one does", async () => {
  page = await open(site, "/profile/data", { member: true });
  const row = await page.getByRole("navigation", { name: account.sections.label }).boundingBox();
  for (const name of [account.export.title, account.deletion.title]) {
    const panel = page.getByRole("region", { name, exact: true });
    const heading = await panel.getByRole("heading").boundingBox();
    const body = await panel.locator("header + *").boundingBox();
    if (!row || !heading || !body) throw new Error("not shown");
    expect([heading.x, body.x + body.width].map(Math.round)).toEqual([row.x, row.x + row.width].map(Math.round));
    expect(heading.x + heading.width).toBeLessThan(body.x);
  }
});

const conversation: Conversation = {
  ...{ id: "0198c0de-0000-7000-8000-00000000000c", title: "Mosaics", pinned: false, earlierThan: null, streamingGenerationId: null },
  ...{ createdAt: "2026-03-10T11:00:00.000Z", updatedAt: "2026-03-10T11:00:00.000Z", headId: "0198c0de-0000-7000-8000-0000000000a2" },
  messages: [
    {
      ...{ id: "0198c0de-0000-7000-8000-0000000000a1", parentId: null, role: "user", timestamp: "2026-03-10T11:00:00.000Z", receipt: null },
      parts: [{ kind: "text", text: "Tell me about mosaics" }],
    },
    {
      ...{ id: "0198c0de-0000-7000-8000-0000000000a2", parentId: "0198c0de-0000-7000-8000-0000000000a1", role: "assistant" },
      timestamp: "2026-03-10T11:00:01.000Z",
      parts: [{ kind: "text", text: "a mosaic is made of many small stones ".repeat(40) }],
      receipt: {
        ...{ generationId: "0198c0de-0000-7000-8000-0000000000b1", modelId: "gpt-5-mini", status: "completed", failureCode: null },
        ...{ heldCredits: 1, chargedCredits: 1, availableAfter: 299, cutShort: true, trimmedMessages: 0 },
        ...{ createdAt: "2026-03-10T11:00:00.000Z", endedAt: "2026-03-10T11:00:02.000Z" },
      },
    },
  ],
};

it("an answer's column is at most 70ch wide, and an answer that was cut short has a button that asks for the rest", async () => {
  api.answerAt("GET /api/conversations/:id", conversation.id, conversation);
  api.answer("GET /api/conversations", { conversations: [conversation], nextCursor: null });
  page = await open(site, `/ai-models?conversation=${conversation.id}`, { member: true });
  const paragraph = page
    .locator("article")
    .last()
    .getByText(/^a mosaic is made/);
  await paragraph.waitFor();
  // In the width of a zero, as CSS counts: a line of English has a few letters more.
  const width = await paragraph.evaluate((element) => {
    const zeros = element.ownerDocument.createElement("span");
    zeros.textContent = "0".repeat(50);
    element.append(zeros);
    const zeroWidth = zeros.getBoundingClientRect().width / 50;
    zeros.remove();
    return element.getBoundingClientRect().width / zeroWidth;
  });
  expect(width).toBeGreaterThan(45);
  expect(width).toBeLessThanOrEqual(70);

  await page.getByText(chat.answer.cutShort).waitFor();
  await page.getByRole("button", { name: "Go on for 1 credit" }).click();
  const sent = () => api.calls("POST /api/generations").map(({ body }) => body);
  const asked = { prompt: chat.answer.goOnPrompt, model: "gpt-5-mini", quotedCredits: 1, parentId: conversation.headId };
  await expect.poll(sent).toMatchObject([{ ...asked, conversationId: conversation.id }]);
});

it.each(daily(["/", "/pricing", "/about"]))(
  "on a phone %s stays where it is after a jump to its end, whatever is drawn then",
  async (address) => {
    page = await open(site, address, phone);
    const footer = page.getByRole("contentinfo");
    await footer.evaluate((element) => element.scrollIntoView());
    const top = await footer.evaluate((element) => element.getBoundingClientRect().top);
    await page.evaluate(`(async () => { for (let frame = 0; frame < 6; frame += 1) await new Promise(requestAnimationFrame); })()`);
    expect(await footer.evaluate((element) => element.getBoundingClientRect().top)).toBeCloseTo(top, -1);
  },
);
