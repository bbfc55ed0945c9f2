/** The page of what takes room: pages, choices, deleting with what is lost, and what it says when something fails or there is nothing. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import problems from "#client/i18n/locales/en/errors.json" with { type: "json" };
import text from "#client/i18n/locales/en/room.json" with { type: "json" };
import type { RoomFile } from "#contract/files.ts";
import { themes, violationsOn } from "#tests/support/accessibility.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const listCall = "GET /api/files/room";
const deleteCall = "DELETE /api/files/:id";
const idOf = (number: number) => `0198a3a4-7c5e-7c3f-8a4e-${String(number).padStart(12, "0")}`;
const conversation = { id: idOf(90), title: "Trip to Ravenna" };

let made = 0;
function file(part: Partial<RoomFile>): RoomFile {
  made += 1;
  return {
    ...{ id: idOf(made), category: "attachment", name: "report.pdf", prompt: null, contentType: "application/pdf", bytes: 8_200_000 },
    ...{ createdAt: "2026-03-09T10:00:00.000Z", conversation: null, keptUntil: null },
    ...part,
  };
}
const files: RoomFile[] = [
  file({ keptUntil: "2026-03-16T10:00:00.000Z" }),
  file({ name: "contract.pdf", conversation }),
  file({ category: "recording", name: "memo.m4a", contentType: "audio/mp4", bytes: 400_000, conversation }),
  file({ category: "picture", name: "A fox.png", prompt: "A fox in an autumn forest", contentType: "image/png", conversation }),
  file({ category: "clip", name: "The sea.mp4", prompt: "The sea at night", contentType: "video/mp4" }),
  file({ category: "speech", name: "The tessera.mp3", contentType: "audio/mpeg", conversation }),
];
const pageOf = (some: readonly RoomFile[], more: object = {}) => ({
  ...{ files: [...some], nextCursor: null, usedBytes: 84_300_000, allowedBytes: 100_000_000 },
  ...more,
});

const says = (words: string) => page.getByText(words, { exact: true }).first().waitFor();
const button = (name: string) => page.getByRole("button", { name, exact: true });
const rows = () =>
  page
    .getByRole("main")
    .getByRole("listitem")
    .filter({ has: page.getByRole("button", { name: text.delete }) });
const lastQuery = () => api.calls(listCall).at(-1)?.query;

async function visit(answer = pageOf(files)): Promise<void> {
  api.answer(listCall, answer);
  api.answer("POST /api/files/addresses", { addresses: [] });
  page = await open(site, "/profile/files", { member: true });
}

it("says of each file what it is, where it is used and how long it stays, and how full the room is", async () => {
  await visit();
  await expect.poll(() => rows().count()).toBe(files.length);
  const row = (index: number) => rows().nth(index);
  expect(await row(0).textContent()).toMatch(
    /report\.pdf\s*Attached file\s*8\.2 MB\s*March 9, 2026\s*Not sent\s*Goes automatically on March 16, 2026/,
  );
  expect(await row(3).textContent()).toMatch(
    /A fox in an autumn forest\s*Picture[\s\S]+In “Trip to Ravenna”\s*Stays as long as its conversation/,
  );
  expect(await row(3).getByRole("link").getAttribute("href")).toBe(`/ai-models?conversation=${conversation.id}`);
  expect(await row(4).textContent()).toMatch(/The sea at night\s*Clip[\s\S]+Stays until you delete it/);
  await says("84.3 MB of 100 MB");
  await says("15.7 MB free");
  expect(await page.getByRole("meter", { name: text.space }).getAttribute("aria-valuetext")).toBe("84.3 MB of 100 MB");
  expect(await violationsOn(page, "the files", { colorSchemes: themes })).toEqual([]);
});

it("asks for what is chosen, and for the next page where the last one ended", async () => {
  await visit(pageOf(files.slice(0, 2), { nextCursor: "next" }));
  expect(lastQuery()).toEqual({ order: "newest" });
  api.answer(listCall, pageOf(files.slice(2, 4)));
  await button(text.more).click();
  await expect.poll(() => rows().count()).toBe(4);
  expect(lastQuery()).toEqual({ order: "newest", cursor: "next" });
  api.answer(listCall, pageOf(files.slice(4)));
  await page.getByRole("radio", { name: text.orders.newest }).press("ArrowRight");
  await expect.poll(() => rows().count()).toBe(2);
  expect(lastQuery()).toEqual({ order: "largest" });
  api.answer(listCall, pageOf([]));
  await page.getByLabel(text.show).selectOption({ label: text.categories.clip });
  await says(text.none);
  expect(lastQuery()).toEqual({ order: "largest", category: "clip" });
});

it.each([
  [0, text.lost.unsent],
  [1, text.lost.sent],
  [2, text.lost.sent],
  [3, text.lost.picture],
  [4, text.lost.clip],
  [5, text.lost.speech],
])("says what is lost with file %i before it is deleted", async (index, lost) => {
  await visit();
  await rows().nth(index).getByRole("button").click();
  const dialog = page.getByRole("dialog", { name: text.deleteTitle });
  await dialog.getByText(lost).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => dialog.count()).toBe(0);
  expect(api.calls(deleteCall)).toEqual([]);
});

it("deletes by keyboard alone, and shows at once what is free then", async () => {
  await visit();
  const [first] = files;
  if (!first) throw new Error("there is no file");
  await rows().first().getByRole("button").press("Enter");
  const dialog = page.getByRole("dialog", { name: text.deleteTitle });
  expect(await violationsOn(page, "the question", { within: "dialog[open]" })).toEqual([]);
  api.refuse(deleteCall.replace(":id", first.id) as typeof deleteCall, 503, "service_unavailable");
  await dialog.getByRole("button", { name: text.delete, exact: true }).press("Enter");
  await dialog.getByText(problems.service_unavailable).waitFor();
  expect(await rows().count()).toBe(files.length);
  api.answer(deleteCall.replace(":id", first.id) as typeof deleteCall, null);
  await dialog.getByRole("button", { name: text.delete, exact: true }).press("Enter");
  await expect.poll(() => rows().count()).toBe(files.length - 1);
  await says("76.1 MB of 100 MB");
  await says("23.9 MB free");
  await expect.poll(() => page.evaluate("document.activeElement?.id")).toBe("files-title");
});

it("takes a file that is gone already off the list", async () => {
  await visit();
  api.refuse(deleteCall.replace(":id", files[0]?.id ?? "") as typeof deleteCall, 404, "not_found");
  await rows().first().getByRole("button").click();
  await page.getByRole("dialog").getByRole("button", { name: text.delete, exact: true }).click();
  await expect.poll(() => rows().count()).toBe(files.length - 1);
});

it("says when it could not look, or has no connection, and looks again", async () => {
  api.refuse(listCall, 503, "service_unavailable");
  page = await open(site, "/profile/files", { member: true });
  await says(text.failed);
  expect(await violationsOn(page, "a failure")).toEqual([]);
  await page.context().setOffline(true);
  await says(text.offline);
  api.answer(listCall, pageOf(files.slice(0, 2), { nextCursor: "next" }));
  await page.context().setOffline(false);
  await expect.poll(() => rows().count()).toBe(2);
  api.refuse(listCall, 503, "service_unavailable");
  await button(text.more).click();
  await says(text.failed);
  expect(await rows().count()).toBe(2);
  api.answer(listCall, pageOf(files.slice(2)));
  await button(text.retry).click();
  await expect.poll(() => rows().count()).toBe(files.length);
});

it("holds the place of the rows while they are read, and says that there are none yet", async () => {
  const release = api.hold(listCall);
  await visit(pageOf([], { usedBytes: 0 }));
  await page.getByRole("status").getByText(text.reading).waitFor();
  release();
  await says(text.empty);
  await says("0 bytes of 100 MB");
  expect(await violationsOn(page, "no files")).toEqual([]);
});

it("says that nothing fits any more, and leads to larger plans", async () => {
  await visit(pageOf(files, { usedBytes: 103_000_000 }));
  await says(text.full);
  await says(text.noneFree);
  expect(await page.getByRole("link", { name: text.plans }).getAttribute("href")).toBe("/pricing");
});
