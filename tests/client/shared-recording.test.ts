/** A voice memo that another app shared is ready to be written down: the service worker has kept it, and the chat takes it. */
import { beforeEach, expect, it } from "vitest";
import { sharedFiles } from "#client/sw/messages.ts";
import type { FileInfo } from "#contract/files.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open, starter } from "./states-support.ts";

let site: Site;
const api = onStubbedSite((opened) => {
  site = opened;
});

const stored: FileInfo = {
  ...{ id: "0198c0de-0000-7000-8000-0000000000f1", kind: "attachment", name: "memo.m4a", contentType: "audio/mp4", bytes: 4_000 },
  ...{ width: null, height: null, durationMs: 61_000, pages: null, textBytes: null, pageEnds: null, tokenEnds: null, generationId: null },
  createdAt: "2026-03-10T12:00:00.000Z",
};

/** What the service worker does with a share (client/sw/caches/shared.ts). */
const keepMemo = `(async () => {
  const cache = await caches.open(${JSON.stringify(sharedFiles.cache)});
  const headers = { "content-type": "audio/x-m4a", ${JSON.stringify(sharedFiles.name)}: "memo.m4a", ${JSON.stringify(sharedFiles.cameAt)}: String(Date.now()) };
  await cache.put("/${sharedFiles.cache}/0", new Response(new Uint8Array(4000), { headers }));
})()`;

beforeEach(() => {
  api.answer("POST /api/functions/reliable-subscription-check", starter);
  api.refuse("POST /api/generations", 409, "price_changed");
});

it("with a model that does so and its price, and is sent only when the person says so", async () => {
  const page = await open(site, "/about", { member: true });
  const uploads: string[] = [];
  await page.route("**/api/recordings?*", (route) => {
    uploads.push(new URL(route.request().url()).searchParams.get("name") ?? "");
    return route.fulfill({ status: 201, json: stored });
  });
  await page.evaluate(keepMemo);
  await page.goto(`${site.address}/ai-models?prompt=`);
  await page.getByRole("button", { name: "Remove memo.m4a" }).waitFor();
  await page.getByText("This costs 4 credits").waitFor();
  expect(uploads).toEqual(["memo.m4a"]);
  expect(api.calls("POST /api/generations")).toEqual([]);
  await page.getByRole("button", { name: /^Send/ }).click();
  await expect
    .poll(() => api.calls("POST /api/generations").map(({ body }) => body))
    .toMatchObject([{ model: "gpt-transcribe", attachments: [stored.id], quotedCredits: 4 }]);
});
