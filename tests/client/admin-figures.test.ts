/** The admin overview's figures: each as a chart and a table, for the range in the address, and its states. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import admin from "#client/i18n/locales/en/admin.json" with { type: "json" };
import text from "#client/i18n/locales/en/figures.json" with { type: "json" };
import usage from "#client/i18n/locales/en/usage.json" with { type: "json" };
import type { Figures } from "#contract/figures.ts";
import { planList } from "#domain/plans.ts";
import { figuresOf, work } from "./admin-figures-support.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});
const calls = () => api.calls("GET /api/admin/figures").map(({ query }) => query);
const region = (name: string) => page.getByRole("region", { name, exact: true });
const table = (name: string) => page.getByRole("group", { name, exact: true });
const rows = async (name: string) =>
  Promise.all((await table(name).getByRole("row").all()).map((row) => row.locator("th, td").allTextContents()));

async function openOverview(figures: Figures, path = "/admin"): Promise<void> {
  api.answer("POST /api/functions/verify-admin", { isAdmin: true, team: "admin" });
  api.answer("GET /api/admin/me", { role: "admin" });
  api.answer("GET /api/admin/figures", figures);
  api.answer("GET /api/admin/work", work);
  page = await open(site, path, { member: true, timezoneId: "Asia/Tokyo" });
}

it("figures are charts and tables of a range of days in UTC, which the address keeps; what fails can be tried again", async () => {
  await openOverview(figuresOf(3));
  await page.getByRole("heading", { name: admin.sections.overview, level: 1 }).waitFor();
  await region(text.revenue.title).locator("canvas").waitFor();
  // Compared with the days directly before. The words say whether the change is good, bad or neither.
  await page.getByText("Compared with February 26, 2026 to February 28, 2026.").waitFor();
  const headline = (name: string) => page.getByRole("definition").filter({ has: page.locator(`xpath=preceding-sibling::dt[.="${name}"]`) });
  expect(await headline(text.revenue.mrr).allInnerTexts()).toEqual([
    expect.stringMatching(/^\$1\.20\s+\+\$0\.20\s+\+20%\s+better\s+before: \$1\.00$/),
  ]);
  expect((await rows(text.compare.table.replace("{{title}}", text.revenue.title))).slice(0, 2)).toEqual([
    [text.compare.figure, text.compare.now, text.compare.before, text.compare.change],
    [text.revenue.mrr, "$1.20", "$1.00", "+$0.20+20%better"],
  ]);
  const ofAnswers = await rows(text.compare.table.replace("{{title}}", text.answers.title));
  expect(ofAnswers.map(([name, , , change]) => [name, change]).slice(1, 5)).toEqual([
    [text.answers.answers, "+20+20%better"],
    [text.answers.failures, "+20 ppworse"],
    [text.answers.firstText, "+0.02 sec+20%worse"],
    [text.answers.firstTextSlow, "+0.02 sec+20%worse"],
  ]);
  expect(await rows(text.revenue.title)).toEqual([
    [usage.charts.day, text.revenue.new, text.revenue.expansion, text.revenue.contraction, text.revenue.churn, text.revenue.end],
    ["March 3, 2026", "$20.00", "$10.00", "-$5.00", "-$5.00", "$120.00"],
    ["March 2, 2026", "$20.00", "$10.00", "-$5.00", "-$5.00", "$100.00"],
    ["March 1, 2026", "$20.00", "$10.00", "-$5.00", "-$5.00", "$80.00"],
    [text.revenue.start, "", "", "", "", "$60.00"],
    [text.total, "$60.00", "$30.00", "-$15.00", "-$15.00", "$120.00"],
  ]);
  const answers = await rows(text.answers.title);
  // 40 sold credits at the least they sell for, 0.0533 dollars, less what the provider takes.
  expect(answers[1]).toEqual(["GPT-6.1 Sol", "10", "10%", "0.84 sec", "12 sec", "50", "$0.30", "$1.83"]);
  await table(text.credits.expiries).getByRole("rowheader", { name: "December 2026" }).waitFor();
  // What the business owes, by the month in which it expires.
  expect(await rows(text.credits.expiries)).toEqual([
    [text.credits.expiries, text.credits.sold, text.credits.given, text.total],
    ["March 2026", "400", "110", "510"],
    ["April 2026", "100", "0", "100"],
    ["December 2026", "60", "0", "60"],
    [text.total, "560", "110", "670"],
  ]);
  for (const title of [text.headlines.outstanding, text.credits.expiries, text.people.trials, text.answers.margin])
    await page.getByRole("img", { name: text.chart.replace("{{title}}", title), exact: true }).waitFor();
  await page.getByText("Paused: GPT-6 Luna").waitFor();
  await page.getByText("$0.0533", { exact: false }).waitFor();
  // No other time zone than UTC is shown.
  await page.getByText("Counted until March 3, 2026, 11:30 PM UTC.").waitFor();

  await page.getByRole("radio", { name: usage.charts.ranges["30d"] }).press("ArrowRight");
  await expect.poll(() => new URL(page.url()).search).toBe("?range=90d");
  await page.getByLabel(usage.filters.from, { exact: true }).fill("2026-03-05");
  await page.getByText(text.backwards).waitFor();
  await page.getByLabel(usage.filters.to, { exact: true }).fill("2026-03-31");
  await expect.poll(() => new URL(page.url()).search).toBe("?from=2026-03-05&to=2026-03-31");
  await expect.poll(calls).toEqual([{ range: "30d" }, { range: "90d" }, { from: "2026-03-05", to: "2026-03-31" }]);

  api.refuse("GET /api/admin/figures", 503, "service_unavailable");
  await page.goBack();
  await page.getByText(text.unread).waitFor();
  api.answer("GET /api/admin/figures", figuresOf(0));
  await page.getByRole("main").getByRole("button", { name: "Try again", exact: true }).click();
  await page.getByText(text.uncounted, { exact: false }).waitFor();
  await expect.poll(() => page.getByText(text.nothing).count()).toBe(6);
  expect(await page.getByText(text.compare.none).count()).toBe(6);
});

it("each chart has a table of all that it draws, with the period before and the total, whose rows are made when it is opened", async () => {
  await openOverview(figuresOf(3));
  await region(text.answers.title).locator("canvas").first().waitFor();
  const named = (title: string) => text.drawn.day.replace("{{title}}", title);
  const before = (of: string) => text.compare.beforeOf.replace("{{of}}", of);
  const { answers, compare, credits, people, revenue, total } = text;
  const drawn: Record<string, string[][]> = {
    [revenue.title]: [
      [revenue.mrr, compare.before],
      ["$120.00", "$40.00"],
    ],
    [text.subscriptions.title]: [
      // Nobody has one of the plans.
      [total, compare.before, ...planList.map((plan) => plan.name).filter((_name, place) => place !== 2)],
      ["11", "4", "6", "4", "1"],
    ],
    [people.title]: [
      [people.joined, people.left, before(people.joined)],
      ["7", "-2", "4"],
    ],
    [people.trials]: [
      [people.trials, people.converted],
      ["4", "1"],
    ],
    [credits.title]: [
      // Nothing was taken back.
      [credits.sold, credits.given, credits.spent, credits.expired, before(credits.spent)],
      ["340", "50", "-120", "-40", "-100"],
    ],
    [text.headlines.outstanding]: [
      [total, compare.before, credits.sold, credits.given],
      ["990", "800", "900", "90"],
    ],
    [answers.title]: [
      [total, compare.before, answers.completed, answers.stopped, answers.failed],
      ["13", "8", "10", "1", "2"],
    ],
    [answers.margin]: [[answers.margin], ["$1.83"]],
  };
  // Every chart has a table to open, except that of expiries, whose table is always visible.
  expect(await page.locator("summary", { hasText: text.by.day }).count()).toBe(Object.keys(drawn).length);
  await expect.poll(() => page.getByRole("img", { name: /as a chart/ }).count()).toBe(Object.keys(drawn).length + 1);
  for (const [title, [head = [], latest = []]] of Object.entries(drawn)) {
    expect(await table(named(title)).count()).toBe(0);
    await page.locator(`summary[aria-label="${named(title)}"]`).click();
    await table(named(title)).waitFor();
    const shown = await rows(named(title));
    expect([title, shown.length, shown[0], shown[1]]).toEqual([title, 4, [usage.charts.day, ...head], ["March 3, 2026", ...latest]]);
    expect(shown[3]?.[0]).toBe("March 1, 2026");
  }
});

it("the table of a chart of many days stays low, with its head in sight", async () => {
  await openOverview(figuresOf(120));
  const name = text.drawn.day.replace("{{title}}", text.answers.title);
  await page.locator(`summary[aria-label="${name}"]`).click();
  await table(name).getByRole("row").nth(120).scrollIntoViewIfNeeded();
  const [frame, head] = [await table(name).boundingBox(), await table(name).getByRole("columnheader").first().boundingBox()];
  expect(frame?.height).toBeLessThan(400);
  expect(Math.abs((head?.y ?? 0) - (frame?.y ?? 0))).toBeLessThan(4);
});
