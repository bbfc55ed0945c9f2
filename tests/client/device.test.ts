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

describe("data stored on the device", () => {
  it("has the keys and the form of the specification", async () => {
    const kept = await page.evaluate(async (given) => {
      const outcomes = [await device.consent.writeConsent(given), await device.feedbackDismissed.dismissFeedback()];
      const values = [await raw.get("userConsent"), await raw.get("cookieConsent"), await raw.get("feedbackDismissed")];
      return { outcomes, values };
    }, consent);
    expect(kept).toEqual({ outcomes: ["kept", "kept"], values: [consent, "declined", true] });
    await page.evaluate((given) => device.consent.writeConsent({ ...given, cookies: true }), consent);
    expect(await page.evaluate(() => raw.get("cookieConsent"))).toBe("accepted");
  });

  it("can be read in the form of earlier releases, which stored no version number", async () => {
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

  it("is exchanged atomically: if the page closes meanwhile, two drafts are either unchanged or exchanged", async () => {
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

  it("lists every conversation that can be opened, latest first, with its title, or its first line if the stored list lacks it", async () => {
    const read = await page.evaluate(async () => {
      const message = (content: string, timestamp: string) => ({
        ...{ id: timestamp, parentId: null, role: "user" as const, timestamp, receipt: null },
        parts: [{ kind: "text" as const, text: content }],
      });
      const { keepConversation, keepConversationList, readKeptList } = device.conversations;
      await keepConversation("ada", "old", [message("A mosaic\nof many lines", "2026-01-01T10:00:00.000Z")], null);
      const alone = await readKeptList("ada");
      await keepConversation("ada", "new", [message("A tile", "2026-02-01T10:00:00.000Z")], null);
      const createdAt = "2026-02-01T10:00:00.000Z";
      await keepConversationList("ada", [
        { id: "new", title: "Tiles", pinned: false, createdAt, updatedAt: createdAt },
        { id: "never opened here", title: "Stones", pinned: false, createdAt, updatedAt: createdAt },
      ]);
      return [alone, await readKeptList("ada")].map((list) => list.map(({ id, title }) => ({ id, title })));
    });
    expect(read).toEqual([
      [{ id: "old", title: "A mosaic" }],
      [
        { id: "new", title: "Tiles" },
        { id: "old", title: "A mosaic" },
      ],
    ]);
  });

  it("kept by an earlier version, which knew no parts and no branches, can be read", async () => {
    const read = await page.evaluate(async () => {
      const message = (id: string, role: string, content: string) => ({
        id,
        role,
        content,
        timestamp: "2026-01-01T10:00:00.000Z",
        receipt: null,
      });
      const messages = [message("q", "user", "Why?"), message("a", "assistant", "")];
      await device.store.writeStored({ version: 1, stamped: true, read: () => undefined }, "conversation:ada:earlier", {
        owner: "ada",
        id: "earlier",
        messages,
        openedAtMs: 1,
      });
      return device.conversations.readKeptConversation("ada", "earlier");
    });
    expect(read?.messages).toMatchObject([
      { id: "q", parentId: null, parts: [{ kind: "text", text: "Why?" }] },
      { id: "a", parentId: "q", parts: [] },
    ]);
  });

  it("counts as absent if it is damaged, and can be written again", async () => {
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

  it("from a newer release is not read, overwritten or removed; the page keeps its own values in memory", async () => {
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
      // A consent stores both of its values or neither.
      cookies: undefined,
    });
  });

  it("survives a full disk: the old value stays stored, and the new one stays in memory until there is room", async () => {
    const draft = (text: string) => ({ text, modelId: null, unsettledKey: null });
    // Set the quota first: Chromium remembers how much room there was.
    const session = await context.newCDPSession(page);
    await session.send("Storage.overrideQuotaForOrigin", { origin: deviceOrigin, quotaSize: 500_000 });
    await page.evaluate((given) => device.drafts.writeDraft("ada", "new", given), draft("short"));
    // Random text, because Chromium compresses what it stores.
    const long = randomBytes(1_500_000).toString("base64");
    expect(await page.evaluate((given) => device.drafts.writeDraft("ada", "new", given), draft(long))).toBe("full");
    expect((await page.evaluate(() => device.drafts.readDraft("ada", "new")))?.text).toHaveLength(long.length);
    expect(await page.evaluate(() => raw.get("draft:ada:new"))).toMatchObject({ text: "short" });
    // A draft cleared in the same write is cleared in memory too.
    await page.evaluate((given) => device.drafts.writeDraft("ada", "aside", given), draft("aside"));
    const exchange = { new: draft(long), aside: draft("") };
    expect(await page.evaluate((given) => device.drafts.writeDrafts("ada", given), exchange)).toBe("full");
    expect(await page.evaluate(() => device.drafts.readDraft("ada", "aside"))).toBeUndefined();
    await session.send("Storage.overrideQuotaForOrigin", { origin: deviceOrigin, quotaSize: 50_000_000 });
    expect(await page.evaluate((given) => device.drafts.writeDraft("ada", "new", given), draft(long))).toBe("kept");
    expect(await page.evaluate(() => raw.get("draft:ada:new"))).toMatchObject({ text: long });
  });

  it("keeps files that wait, with their bytes, for the next page, and no more than its bounds: what is beyond says so", async () => {
    const kept = await page.evaluate(async () => {
      const { keepWaitingFile, listWaitingFiles } = device.waitingFiles;
      const common = { owner: "ada", purpose: "question" as const, threadKey: "new", chosenAtMs: Date.now(), refusal: null };
      const keep = (id: string, file: Blob) => keepWaitingFile({ ...common, id, name: `${id}.txt`, file });
      const outcomes = [await keep("first", new File(["mosaic"], "first.txt", { type: "text/plain" }))];
      outcomes.push(await keep("huge", new Blob(Array(160).fill(new Blob([new Uint8Array(1_000_000)])))));
      for (let index = 0; index < 20; index += 1) outcomes.push(await keep(`file ${index}`, new Blob(["x"])));
      await raw.put("file:ada:damaged", { id: "damaged", owner: "ada", file: "no file" });
      return { outcomes, listed: (await listWaitingFiles("ada")).length, others: await listWaitingFiles("grace") };
    });
    expect(kept).toEqual({ outcomes: ["kept", "full", ...Array(19).fill("kept"), "full"], listed: 20, others: [] });
    await page.close();
    page = await openTab(context, code);
    const read = await page.evaluate(async () => {
      const [first] = (await device.waitingFiles.listWaitingFiles("ada")).filter(({ id }) => id === "first");
      return [first?.name, first?.file.type, await first?.file.text()];
    });
    expect(read).toEqual(["first.txt", "text/plain", "mosaic"]);
  });

  it("reports if the browser stores nothing, and then works until the page is closed", async () => {
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

  it("does not block a newer release in another tab from upgrading the database, and can be read afterwards", async () => {
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
