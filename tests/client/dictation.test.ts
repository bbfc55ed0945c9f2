/** A spoken prompt is written down, and paid for, only by the person's own act; Chromium's fake microphone beeps. */
import type { Locator, Page } from "playwright-core";
import { beforeEach, expect, it } from "vitest";
import chat from "#client/i18n/locales/en/chat.json" with { type: "json" };
import sounds from "#client/i18n/locales/en/sounds.json" with { type: "json" };
import type { FileInfo } from "#contract/files.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open, starter } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const minuteMs = 60_000;

function recorded(durationMs: number): FileInfo {
  return {
    ...{ id: "0198c0de-0000-7000-8000-0000000000f1", kind: "attachment", name: "Dictate.webm", contentType: "audio/webm", bytes: 4_000 },
    ...{ width: null, height: null, durationMs, pages: null, textBytes: null, pageEnds: null, tokenEnds: null, generationId: null },
    createdAt: "2026-03-10T12:00:00.000Z",
  };
}

/** Takes what is uploaded, and says how long it was. */
async function measureAs(durationMs: number): Promise<void> {
  await page.route("**/api/recordings?*", (route) => route.fulfill({ status: 201, json: recorded(durationMs) }));
}
const sent = () => api.calls("POST /api/generations").map(({ body }) => body);
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
const dictate = () => button(sounds.dictate.label);
const timer = () => page.getByRole("timer");

/** Lets the test move the page's clock ahead and decide when its microphone opens. */
const inHand = `(() => {
  const now = performance.now.bind(performance);
  performance.now = () => now() + (globalThis.aheadMs ?? 0);
  const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  globalThis.streams = [];
  navigator.mediaDevices.getUserMedia = async (wanted) => {
    await globalThis.opening;
    const stream = await ask(wanted);
    globalThis.streams.push(stream);
    return stream;
  };
})()`;
const aheadBy = (milliseconds: number) => page.evaluate(`globalThis.aheadMs = (globalThis.aheadMs ?? 0) + ${milliseconds}; undefined`);
const holdMicrophone = () => page.evaluate("globalThis.opening = new Promise((open) => { globalThis.openNow = open; }); undefined");
const openMicrophone = () => page.evaluate("globalThis.openNow(); undefined");
/** The state of each microphone track that was opened. */
const tracks = () => page.evaluate<string[]>("globalThis.streams.map((stream) => stream.getAudioTracks()[0].readyState)");

async function press(target: Locator): Promise<void> {
  const box = await target.boundingBox();
  if (!box) throw new Error("the button is not to be seen");
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
}

beforeEach(async () => {
  api.answer("POST /api/functions/reliable-subscription-check", starter);
  // The server refuses what is sent, so that no answer follows.
  api.refuse("POST /api/generations", 409, "price_changed");
  page = await open(site, "/ai-models?model=gpt-6-luna", { member: true, fresh: true });
  await page.evaluate(inHand);
  await dictate().click();
  await button(sounds.dictate.start).click();
  await timer().waitFor();
});

it("within a minute, a tap on Done sends it without another question", async () => {
  await measureAs(minuteMs);
  await button(sounds.finish).last().click();
  await expect.poll(() => sent().length).toBe(1);
});

it("above a minute it is kept and its price asked about first; another recording does not take its place", async () => {
  await measureAs(minuteMs + 1_000);
  await aheadBy(minuteMs + 1_000);
  await timer().getByText("1:0").waitFor();
  await button(sounds.finish).last().click();
  await button("Write it down for 4 credits").waitFor();
  expect(sent()).toEqual([]);
  await dictate().click({ force: true });
  expect(await timer().count()).toBe(0);
  expect(api.calls("DELETE /api/files/:id")).toEqual([]);
  await button("Write it down for 4 credits").click();
  await expect.poll(sent).toMatchObject([{ quotedCredits: 4, confirmed: true, attachments: [recorded(0).id] }]);
});

it("at the longest that the model takes it ends by itself, and is not sent without a tap", async () => {
  await measureAs(25 * minuteMs);
  await aheadBy(25 * minuteMs);
  await button("Write it down for 50 credits").waitFor();
  expect(sent()).toEqual([]);
});

it("what the microphone or the browser ended is asked about, however short it is", async () => {
  await measureAs(2_000);
  await page.evaluate("globalThis.streams[0].getAudioTracks()[0].onended(); undefined");
  await button("Write it down for 2 credits").waitFor();
  expect(sent()).toEqual([]);
  await button(sounds.discard).click();

  // The browser cancels the pointer, as for a scroll or a phone call.
  await press(dictate());
  await timer().waitFor();
  await aheadBy(1_000);
  await button(sounds.finish).last().dispatchEvent("pointercancel", { pointerId: 1 });
  await button("Write it down for 2 credits").waitFor();
  expect(sent()).toEqual([]);
});

it("a button that is let go while the microphone opens records nothing; a short tap still begins", async () => {
  await button(sounds.discard).click();
  await holdMicrophone();
  await press(dictate());
  await aheadBy(1_000);
  await page.mouse.up();
  await openMicrophone();
  await expect.poll(tracks).toEqual(["ended", "ended"]);
  expect(await timer().count()).toBe(0);
  expect(await dictate().getAttribute("aria-pressed")).toBe("false");

  await holdMicrophone();
  await dictate().click();
  await openMicrophone();
  await timer().waitFor();
  await button(sounds.discard).click();
  // The same by keyboard: a second press while it opens takes the first one back.
  await holdMicrophone();
  await dictate().press("Enter");
  await dictate().press("Enter");
  await openMicrophone();
  await expect.poll(tracks).toEqual(["ended", "ended", "ended", "ended"]);
  expect(await timer().count()).toBe(0);
  expect(await page.getByLabel(chat.composer.label).inputValue()).toBe("");
});

it("what did not get through is kept until it is tried again; another recording does not take its place", async () => {
  let tries = 0;
  await page.route("**/api/recordings?*", (route) => {
    tries += 1;
    return tries === 1 ? route.abort("connectionfailed") : route.fulfill({ status: 201, json: recorded(minuteMs) });
  });
  await button(sounds.finish).last().click();
  await button(sounds.retry).waitFor();
  expect(await dictate().getAttribute("aria-disabled")).toBe("true");
  await button(sounds.retry).click();
  await expect.poll(() => sent().length).toBe(1);
  expect(tries).toBe(2);
});
