import { randomBytes } from "node:crypto";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { launchBrowser } from "#tests/support/browser.ts";
import { bundleDevice, deviceOrigin, openTab } from "./device-support.ts";

let browser: Browser;
let code: string;
let context: BrowserContext;
let page: Page;
beforeAll(async () => {
  [code, browser] = await Promise.all([bundleDevice(), launchBrowser()]);
}, 60_000);
afterAll(() => browser?.close());
beforeEach(async () => {
  context = await browser.newContext();
  page = await openTab(context, code);
});
afterEach(() => context.close());

const consent = { tos: true, privacy: true, cookies: false, timestamp: "2026-02-01T10:00:00.000Z" };

describe("what is kept on the device", () => {
  it("stands under the keys and in the form of the specification", async () => {
    const kept = await page.evaluate(async (given) => {
      const outcomes = [await device.consent.writeConsent(given), await device.feedbackDismissed.dismissFeedback()];
      const values = [await raw.get("userConsent"), await raw.get("cookieConsent"), await raw.get("feedbackDismissed")];
      return { outcomes, values };
    }, consent);
    expect(kept).toEqual({ outcomes: ["kept", "kept"], values: [consent, "declined", true] });
    await page.evaluate((given) => device.consent.writeConsent({ ...given, cookies: true }), consent);
    expect(await page.evaluate(() => raw.get("cookieConsent"))).toBe("accepted");
  });

  it("is read again in the form of earlier versions, which wrote no version", async () => {
    const draft = { text: "A tile", modelId: "gpt-5", unsettledKey: null };
    const check = { subscribed: true, subscription_tier: "basic", plan_name: "Basic Plan", credits: 12, subscription_end: null };
    const read = await page.evaluate(
      async ([oldDraft, oldCheck]) => {
        await raw.put("draft:ada:new", oldDraft);
        await raw.put("subscription:ada", { check: oldCheck, checkedAtMs: 5 });
        return [await device.drafts.readDraft("ada", "new"), await device.subscriptionCache.readCachedCheck("ada")];
      },
      [draft, check] as const,
    );
    expect(read).toEqual([draft, { check, checkedAtMs: 5 }]);
  });

  it("changes places as a whole: a page that ends in the middle leaves two drafts as they were, or exchanged", async () => {
    const draft = (text: string) => ({ text, modelId: null, unsettledKey: null });
    const texts = (tab: Page) =>
      tab.evaluate(async () => {
        const drafts = [await device.drafts.readDraft("ada", "new"), await device.drafts.readDraft("ada", "aside")];
        return drafts.map((found) => found?.text);
      });
    await page.evaluate((drafts) => device.drafts.writeDrafts("ada", drafts), { new: draft("prompt"), aside: draft("letter") });
    for (let round = 0; round < 8; round += 1) {
      const before = await texts(page);
      const [here, aside] = before.map((text) => draft(text ?? ""));
      if (!here || !aside) throw new Error("a draft is gone");
      await page.evaluate(([one, other]) => void device.drafts.writeDrafts("ada", { new: one, aside: other }), [aside, here] as const);
      await page.close();
      page = await openTab(context, code);
      expect([before, [...before].reverse()]).toContainEqual(await texts(page));
    }
    await page.evaluate((empty) => device.drafts.writeDrafts("ada", { aside: empty }), draft(""));
    expect((await texts(page))[1]).toBeUndefined();
  });

  it("counts as absent where it is damaged, and may be written anew", async () => {
    const found = await page.evaluate(async (given) => {
      const damaged: [string, unknown][] = [
        ["userConsent", { tos: "yes", privacy: true, cookies: true, timestamp: "now" }],
        ["draft:ada:new", ["text"]],
        ["subscription:ada", { check: { subscribed: "perhaps" }, checkedAtMs: 1 }],
        ["feedbackDismissed", "false"],
        ["form:1", { id: "1", form: "unknown" }],
      ];
      for (const [key, value] of damaged) await raw.put(key, value);
      const before = [
        (await device.consent.findConsent()).state,
        await device.drafts.readDraft("ada", "new"),
        await device.subscriptionCache.readCachedCheck("ada"),
        await device.feedbackDismissed.isFeedbackDismissed(),
        (await device.formQueue.listQueuedForms()).length,
      ];
      await device.consent.writeConsent(given);
      return { before, after: await device.consent.findConsent() };
    }, consent);
    expect(found).toEqual({ before: ["absent", undefined, undefined, false, 0], after: { state: "found", value: consent } });
  });

  it("is left alone where a newer version kept it: not read, not overwritten, not removed; the page goes on with its own", async () => {
    const result = await page.evaluate(async (given) => {
      const newer = { version: 2, shape: "nobody here knows" };
      for (const key of ["userConsent", "draft:ada:new", "form:1", "feedbackDismissed"]) await raw.put(key, newer);
      const first = [(await device.consent.findConsent()).state, await device.drafts.readDraft("ada", "new")];
      const listed = await device.formQueue.listQueuedForms();
      const dismissed = await device.feedbackDismissed.isFeedbackDismissed();
      const draft = { text: "mine", modelId: null, unsettledKey: null };
      const written = [await device.consent.writeConsent(given), await device.drafts.writeDraft("ada", "new", draft)];
      const inThisPage = await device.drafts.readDraft("ada", "new");
      await device.drafts.writeDraft("ada", "new", { ...draft, text: "" });
      await device.formQueue.removeQueuedForm("1");
      const untouched = await Promise.all(["userConsent", "draft:ada:new", "form:1"].map((key) => raw.get(key)));
      return { first, listed, dismissed, written, inThisPage, untouched, cookies: await raw.get("cookieConsent") };
    }, consent);
    const newer = { version: 2, shape: "nobody here knows" };
    expect(result).toEqual({
      first: ["newer", undefined],
      listed: [],
      dismissed: true,
      written: ["newer", "newer"],
      inThisPage: { text: "mine", modelId: null, unsettledKey: null },
      untouched: [newer, newer, newer],
      // Both values of a consent or neither.
      cookies: undefined,
    });
  });

  it("survives a full disk: the old value stays, the new one lives with the page, and is kept once there is room", async () => {
    const draft = (text: string) => ({ text, modelId: null, unsettledKey: null });
    // From the start: Chromium remembers how much room there was.
    const session = await context.newCDPSession(page);
    await session.send("Storage.overrideQuotaForOrigin", { origin: deviceOrigin, quotaSize: 500_000 });
    await page.evaluate((given) => device.drafts.writeDraft("ada", "new", given), draft("short"));
    // Chromium compresses what it stores, so the text has to be one that can't be.
    const long = randomBytes(1_500_000).toString("base64");
    expect(await page.evaluate((given) => device.drafts.writeDraft("ada", "new", given), draft(long))).toBe("full");
    expect((await page.evaluate(() => device.drafts.readDraft("ada", "new")))?.text).toHaveLength(long.length);
    expect(await page.evaluate(() => raw.get("draft:ada:new"))).toMatchObject({ text: "short" });
    await session.send("Storage.overrideQuotaForOrigin", { origin: deviceOrigin, quotaSize: 50_000_000 });
    expect(await page.evaluate((given) => device.drafts.writeDraft("ada", "new", given), draft(long))).toBe("kept");
    expect(await page.evaluate(() => raw.get("draft:ada:new"))).toMatchObject({ text: long });
  });

  it("says so where the browser keeps nothing, and works as long as the page", async () => {
    const closed = await browser.newContext();
    await closed.addInitScript(() => {
      IDBFactory.prototype.open = () => {
        throw new DOMException("The operation is insecure.", "SecurityError");
      };
    });
    const tab = await openTab(closed, code);
    const result = await tab.evaluate(async (given) => {
      const before = await device.consent.findConsent();
      const outcome = await device.consent.writeConsent(given);
      return { before, outcome, after: await device.consent.findConsent(), forms: await device.formQueue.listQueuedForms() };
    }, consent);
    expect(result).toEqual({ before: { state: "absent" }, outcome: "closed", after: { state: "found", value: consent }, forms: [] });
    await closed.close();
  });

  it("never keeps a newer version in another tab from rebuilding the database, and is found again afterwards", async () => {
    await page.evaluate((given) => device.drafts.writeDraft("ada", "new", given), { text: "kept", modelId: null, unsettledKey: null });
    const newer = await openTab(context, code);
    const opened = await newer.evaluate(
      () =>
        new Promise<string>((resolve) => {
          const request = indexedDB.open("keyval-store", 2);
          request.onupgradeneeded = () => request.result.createObjectStore("more");
          request.onblocked = () => resolve("blocked");
          request.onsuccess = () => {
            request.result.close();
            resolve("opened");
          };
        }),
    );
    expect(opened).toBe("opened");
    expect(await page.evaluate(() => device.drafts.readDraft("ada", "new"))).toMatchObject({ text: "kept" });
  });
});
