/** History and usage: the history with its filters, its states, and the file. */
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import billing from "#client/i18n/locales/en/billing.json" with { type: "json" };
import limits from "#client/i18n/locales/en/limits.json" with { type: "json" };
import text from "#client/i18n/locales/en/usage.json" with { type: "json" };
import type { Explanation, LedgerLine } from "#contract/credits/ledger.ts";
import type { Site } from "./frame-support.ts";
import { account, onStubbedSite, open } from "./states-support.ts";

const ledger = "GET /api/credits/ledger";
let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const conversationId = "0198c0de-0000-7000-8000-00000000000c";
const unsold = { grantFor: null, invoice: null };
const none = { ...unsold, grantId: null, grantKind: null, reason: null, modelId: null, conversationId: null, conversationTitle: null };
/** Late on one day in UTC, when it is the next day in Tokyo. */
const capture: LedgerLine = {
  ...none,
  ...{ id: "0198c0de-0000-7000-8000-000000000012", kind: "capture", credits: -1, balanceAfter: 299, modelId: "gpt-5-mini" },
  ...{ occurredAt: "2026-03-10T23:30:00.000Z", conversationId, conversationTitle: "What is a tessera?" },
};
const grant: LedgerLine = {
  ...none,
  ...{ id: "0198c0de-0000-7000-8000-000000000011", kind: "grant", credits: 300, balanceAfter: 300, grantKind: "plan" },
  ...{ grantId: "0198c0de-0000-7000-8000-000000000001", occurredAt: "2026-03-10T11:30:00.000Z" },
};

const history = () => page.getByRole("region", { name: text.history.title, exact: true });
const queries = () => api.calls(ledger).map(({ query }) => query);
const button = (name: string) => page.getByRole("button", { name, exact: true });

describe("the history", () => {
  beforeEach(() => api.answer(ledger, { lines: [capture, grant], nextCursor: null, readTo: null }));

  it("is written in days of UTC wherever the device is, with what each line was for and the balance after it", async () => {
    page = await open(site, "/profile/usage", { member: true, timezoneId: "Asia/Tokyo" });
    await history().getByText("What is a tessera?").waitFor();
    expect(await history().getByRole("heading", { level: 3 }).allTextContents()).toEqual(["March 10, 2026"]);
    const [first, second] = await history().getByRole("listitem").allTextContents();
    expect(first).toMatch(/Answer by GPT-5 Mini.*-1.*11:30.*PM · What is a tessera\?.*Balance after 299/);
    expect(second).toMatch(/Credits received.*\+300.*11:30.*AM · Plan.*Balance after 300/);
    expect(await history().getByRole("link").getAttribute("href")).toBe(`/ai-models?conversation=${conversationId}`);
    await history().getByText(text.history.oldest).waitFor();
  });

  it("keeps its filters in the address, asks for what matches, and forgets them", async () => {
    page = await open(site, "/profile/usage?kind=capture&from=2026-03-01&to=soon&direction=sideways", { member: true });
    await history().getByText(text.history.end).waitFor();
    expect(queries()).toEqual([{ kind: "capture", from: "2026-03-01", limit: "25" }]);
    await page.getByLabel(text.filters.model, { exact: true }).selectOption("gpt-5-mini");
    await page.getByLabel(text.filters.to, { exact: true }).fill("2026-03-31");
    await expect
      .poll(() => queries().at(-1))
      .toEqual({
        ...{ kind: "capture", model: "gpt-5-mini", from: "2026-03-01", to: "2026-03-31", limit: "25" },
      });
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({ kind: "capture", model: "gpt-5-mini", to: "2026-03-31" });
    await page.reload();
    await expect.poll(() => page.getByLabel(text.filters.model, { exact: true }).inputValue()).toBe("gpt-5-mini");
    await button(text.filters.clear).click();
    await expect.poll(() => queries().at(-1)).toEqual({ limit: "25" });
    expect(new URL(page.url()).search).toBe("");
  });

  it("goes on by itself where little matches, says how far it came, and goes on when asked", async () => {
    api.answer(ledger, { lines: [], nextCursor: "next", readTo: "2026-02-01T00:00:00.000Z" });
    page = await open(site, "/profile/usage?kind=restore", { member: true });
    await history().getByText(text.history.readTo.replace("{{date}}", "February 1, 2026")).waitFor();
    expect(queries()).toHaveLength(5);
    api.answer(ledger, { lines: [capture], nextCursor: null, readTo: null });
    await button(text.history.goOn).click();
    await history().getByText("What is a tessera?").waitFor();
    expect(queries().at(-1)).toMatchObject({ cursor: "next" });
    await history().getByText(text.history.end).waitFor();
  });

  it("says that nothing matches, that nothing has moved yet, and that it could not be read", async () => {
    api.answer(ledger, { lines: [], nextCursor: null, readTo: null });
    page = await open(site, "/profile/usage?kind=restore", { member: true });
    await history().getByText(text.history.none).waitFor();
    await button(text.filters.clear).click();
    await history().getByText(billing.ledger.empty).waitFor();
    api.refuse(ledger, 500, "unexpected");
    await page.getByLabel(text.filters.kind, { exact: true }).selectOption("grant");
    await history().getByRole("alert").getByText(text.history.failed).waitFor();
    api.answer(ledger, { lines: [grant], nextCursor: null, readTo: null });
    await button("Try again").click();
    await history().getByText("Credits received").last().waitFor();
  });

  it("is saved as a file, filtered as it is shown", async () => {
    api.answer("GET /api/credits/ledger.csv", "time\r\n");
    page = await open(site, "/profile/usage?kind=capture", { member: true });
    await history().getByText("What is a tessera?").waitFor();
    const saved = page.waitForEvent("download");
    await button(text.history.download).click();
    expect((await saved).suggestedFilename()).toBe("tessera-history.csv");
    expect(api.calls("GET /api/credits/ledger.csv").map(({ query }) => query)).toEqual([{ kind: "capture" }]);
  });

  it("shows what came meanwhile above what was read, also of the figures, as soon as it is told", async () => {
    const month = { from: "2026-02-09", to: "2026-03-10", unit: "day" as const };
    api.answer("GET /api/credits/usage", { ...month, sums: [] });
    // A page of its own, because the socket below stays with the page.
    page = await open(site, "/profile/usage", { member: true, fresh: true });
    await history().getByText(text.history.oldest).waitFor();
    await page.getByText(text.charts.empty).waitFor();
    const newer = { ...capture, id: "0198c0de-0000-7000-8000-000000000013", credits: -2, balanceAfter: 297 };
    api.answer(ledger, { lines: [newer, capture, grant], nextCursor: null, readTo: null });
    api.answer("GET /api/credits/usage", { ...month, sums: [{ start: "2026-03-10", modelId: "gpt-5-mini", answers: 2, credits: 3 }] });
    const message = JSON.stringify({ type: "change", table: "wallets", user_id: account.id });
    // The page has no socket here, so it tries again within a second.
    await page.routeWebSocket("**/api/realtime", (socket) => socket.onMessage(() => socket.send(message)));
    await history().getByText("Balance after 297").waitFor();
    expect(await history().getByRole("listitem").count()).toBe(3);
    await page.getByText(text.charts.empty).waitFor({ state: "hidden" });
  });

  it("is not read for a person who is not signed in", async () => {
    page = await open(site, "/profile/usage");
    await page.getByRole("main").getByRole("link", { name: "Sign in", exact: true }).waitFor();
    expect(api.calls(ledger)).toHaveLength(0);
  });
});

describe("the explanation of the balance", () => {
  const explanation = "GET /api/credits/explanation";
  const id = "0198c0de-0000-7000-8000-000000000001";
  const step: Explanation["grants"][number] = {
    ...{
      ...unsold,
      id,
      kind: "plan",
      createdAt: "2026-03-09T10:00:00.000Z",
      expiresAt: "2026-04-09T10:00:00.000Z",
      credits: 600,
      spent: 120,
    },
    ...{ expired: 0, takenBack: 0, moved: 0, remaining: 480, held: 12 },
  };
  const pack = { ...step, kind: "pack" as const, credits: 250, spent: 0, takenBack: 30, moved: -10, remaining: 210, held: 0 };
  const region = () => page.getByRole("region", { name: text.explain.title, exact: true });

  it("goes grant by grant to the balance, with links to the lines of each step, and says that it adds up", async () => {
    api.answer(ledger, { lines: [capture, grant], nextCursor: null, readTo: null });
    api.answer(explanation, { balance: 690, held: 12, closedCredits: 5_400, grants: [step, { ...pack, id: account.id }], agrees: true });
    page = await open(site, "/profile/usage", { member: true });
    await region().getByText(text.explain.agrees.replace("{{balance}}", "690")).waitFor();
    const [closed, first, second] = await region().getByRole("list").first().getByRole("listitem").allTextContents();
    expect(closed).toMatch(/nothing is left.*\+5,400.*-5,400.*so far 0/);
    expect(first).toMatch(/Plan March 9, 2026Received\+600Answers-120Left 480 · 12 held for answers.*Balance so far 480/);
    expect(second).toMatch(/Pack March 9, 2026Received\+250Credits taken back-30Covered a debt-10Left 210.*Balance so far 690/);
    await region().getByRole("link", { name: text.kinds.capture, exact: true }).click();
    await expect.poll(() => queries().at(-1)).toEqual({ kind: "capture", grant: id, limit: "25" });
    await history().getByText(text.filters.grant).waitFor();
  });

  it("says when it does not add up, when there is nothing to explain, and when it could not be read", async () => {
    api.answer(explanation, { balance: 691, held: 12, closedCredits: 0, grants: [step, pack], agrees: false });
    page = await open(site, "/profile/usage", { member: true });
    await region().getByRole("alert").getByText("The steps add up to 690, but your balance is 691.").waitFor();
    api.answer(explanation, { balance: 0, held: 0, closedCredits: 0, grants: [], agrees: true });
    await page.reload();
    await region().getByText(text.explain.empty).waitFor();
    api.refuse(explanation, 500, "unexpected");
    await page.reload();
    await region().getByRole("alert").getByText(text.explain.failed).waitFor();
    api.answer(explanation, { balance: 0, held: 0, closedCredits: 0, grants: [], agrees: true });
    await region().getByRole("button", { name: "Try again", exact: true }).click();
    await region().getByText(text.explain.empty).waitFor();
  });
});

describe("the usage", () => {
  const usage = "GET /api/credits/usage";
  const region = () => page.getByRole("region", { name: text.charts.title, exact: true });
  const rows = async () => Promise.all((await region().getByRole("row").all()).map((row) => row.getByRole("cell").allTextContents()));
  const sum = (start: string, modelId: string, answers: number, credits: number) => ({ start, modelId, answers, credits });

  it("is a chart and a table with the same figures by day and model, for the range that is chosen", async () => {
    const ids = ["gpt-5", "gpt-5-mini", "gpt-image-1", "a-model-of-long-ago", "sonar", "sonar-pro"];
    const sums = ids.map((id, index) => sum("2026-03-10", id, index + 1, 60 - 10 * index));
    api.answer(usage, { from: "2026-02-09", to: "2026-03-10", unit: "day", sums: [sum("2026-03-01", "gpt-5", 1, 5), ...sums] });
    page = await open(site, "/profile/usage", { member: true });
    await region().getByRole("img", { name: text.charts.chart }).locator("canvas").waitFor();
    const models = await region().getByRole("columnheader").allTextContents();
    expect([models[0], models[1], models[2], models[5], models.at(-1)]).toEqual([
      ...[text.charts.day, text.charts.total, "GPT-5", "a-model-of-long-ago", text.charts.others],
    ]);
    expect(await region().getByRole("rowheader").allTextContents()).toEqual(["March 10, 2026", "March 1, 2026"]);
    expect(await rows()).toEqual([[], ["210", "60", "50", "40", "30", "30"], ["5", "5", "0", "0", "0", "0"]]);
    // The latest bar is told in figures, and the one below the pointer as long as it is there.
    const told = () => region().locator("[aria-hidden=true] > span").allTextContents();
    const latest = [
      "Mar 10 210",
      ...["GPT-5 60", `GPT-5 Mini 50`],
      ...["GPT Image 1 40", "a-model-of-long-ago 30", `${text.charts.others} 30`],
    ];
    expect(await told()).toEqual(latest);
    const chart = region().getByRole("img", { name: text.charts.chart });
    await chart.hover({ position: { x: 50, y: 100 } });
    await expect.poll(told).toEqual(["Feb 9 0"]);
    await page.mouse.move(0, 0);
    await expect.poll(told).toEqual(latest);
    await region().getByText("Credits 215").waitFor();
    await region().getByText("Answers 22").waitFor();

    api.answer(usage, { from: "2025-04-01", to: "2026-03-10", unit: "month", sums: [sum("2025-12-01", "gpt-5", 2, 10)] });
    await page.getByRole("radio", { name: text.charts.ranges["30d"] }).press("ArrowRight");
    await page.getByRole("radio", { name: text.charts.ranges["90d"] }).press("ArrowRight");
    await region().getByRole("rowheader", { name: "December 2025" }).waitFor();
    expect(api.calls(usage).map(({ query }) => query)).toEqual([{ range: "30d" }, { range: "90d" }, { range: "12m" }]);
  });

  it("says that nothing was spent, and that it could not be read", async () => {
    page = await open(site, "/profile/usage", { member: true });
    await region().getByText(text.charts.empty).waitFor();
    api.refuse(usage, 500, "unexpected");
    await page.getByRole("radio", { name: text.charts.ranges["7d"] }).check({ force: true });
    await region().getByRole("alert").getByText(text.charts.failed).waitFor();
    api.answer(usage, { from: "2026-03-04", to: "2026-03-10", unit: "day", sums: [] });
    await region().getByRole("button", { name: "Try again", exact: true }).click();
    await region().getByText(text.charts.empty).waitFor();
  });
});

describe("the spending limits", () => {
  const region = () => page.getByRole("region", { name: limits.title, exact: true });
  const field = (name: string) => region().getByLabel(name, { exact: true });
  const put = "PUT /api/credits/limits";

  it("are saved as numbers or as none, with what today has cost, and what is no such number is not sent", async () => {
    api.answer("GET /api/credits/limits", { dailyCapCredits: 30, askAboveCredits: null, alertPercent: 80, todayCredits: 12 });
    api.answer(put, { dailyCapCredits: null, askAboveCredits: 4, alertPercent: null, todayCredits: null });
    page = await open(site, "/profile/usage", { member: true });
    await region().getByText("Today: 12 of 30").waitFor();
    await field(limits.cap.label).fill("1.5");
    await button(limits.save).click();
    await region().getByText("Enter a whole number from 1 to 1,000,000, or nothing.").waitFor();
    expect(api.calls(put)).toHaveLength(0);
    await field(limits.cap.label).fill("");
    await field(limits.ask.label).fill("4");
    expect(await field(limits.alert.label).inputValue()).toBe("80");
    await field(limits.alert.label).selectOption({ label: limits.alert.off });
    await button(limits.save).click();
    await region().getByText(limits.saved).waitFor();
    expect(api.calls(put).map(({ body }) => body)).toEqual([{ dailyCapCredits: null, askAboveCredits: 4, alertPercent: null }]);
    expect(await region().getByText("Today:").count()).toBe(0);
  });

  it("say that they could not be saved, and keep what was typed", async () => {
    api.refuse(put, 503, "service_unavailable");
    page = await open(site, "/profile/usage", { member: true });
    await field(limits.cap.label).fill("20");
    await button(limits.save).click();
    await region().getByRole("alert").waitFor();
    expect(await field(limits.cap.label).inputValue()).toBe("20");
  });
});
