/** In the panel: what waits is put off until a day and brought back; the filters of a list are taken away one by one. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import text from "#client/i18n/locales/en/admin.json" with { type: "json" };
import type { Needs, PutOffNeed } from "#contract/admin/needs.ts";
import { violationsOn } from "#tests/support/accessibility.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open } from "./states-support.ts";

let site: Site;
const api = onStubbedSite((opened) => {
  site = opened;
});
const at = "2026-03-10T11:00:00.000Z";
const none = { rows: [], isMore: false };
const who = { userId: "7d0f6a52-1c1e-4a5f-9a58-3f1f5d1c9b02", email: "ada@example.com" };
const money = { paidCents: 1999, since: at, dashboardUrl: null };
const disputes = [
  { id: "ch_soon", ...money, ...who, dueAt: "2026-03-12T18:00:00.000Z", entry: "ch_soon 1", dueBy: "2026-03-12T18:00:00.000Z" },
  { id: "ch_now", ...money, ...who, dueAt: "2026-03-10T18:00:00.000Z", entry: "ch_now 1", dueBy: "2026-03-10T18:00:00.000Z" },
];
const withDisputes = (rows: typeof disputes, putOff: PutOffNeed[] = []): Needs => ({
  ...{ findings: none, deadLetters: none, failedPayments: none, disputes: { rows, isMore: false }, holds: none, unanswered: none },
  ...{ refusedMails: none, transfers: none, models: none, putOff, checkingSince: null },
});

async function openPanel(path: string): Promise<Page> {
  api.answer("POST /api/functions/verify-admin", { isAdmin: true, team: "admin" });
  api.answer("GET /api/admin/me", { role: "admin" });
  api.answer("GET /api/admin/views", { views: [] });
  return open(site, path, { member: true });
}
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

it("what can wait is put off until a day before it is due, and is among what was put off, with the way back", async () => {
  api.answer("GET /api/admin/needs", withDisputes(disputes));
  const page = await openPanel("/admin/needs");
  // The one that is due today can't wait.
  await expect.poll(() => button(page, text.needs.putOff.act).count()).toBe(1);
  expect(await violationsOn(page, "needs")).toEqual([]);
  await button(page, text.needs.putOff.act).click();
  const dialog = page.getByRole("dialog", { name: text.needs.putOff.act });
  const day = dialog.getByLabel(text.needs.putOff.until);
  await day.waitFor();
  // Of the suggested days, only tomorrow is before the due day.
  expect([await day.inputValue(), await dialog.locator("[aria-pressed]").allTextContents()]).toEqual([
    "2026-03-11",
    [text.needs.putOff.tomorrow],
  ]);
  await day.fill("2026-03-13");
  await dialog.getByText("Choose a day from March 11, 2026 to March 12, 2026.").waitFor();
  await dialog.getByLabel(text.reason.label).fill("The bank answers then");
  const act = dialog.locator('button[type="submit"]');
  await act.click();
  expect(api.calls("POST /api/admin/needs/put-off")).toEqual([]);
  expect(await violationsOn(page, "put off", { within: "dialog[open]" })).toEqual([]);

  await day.fill("2026-03-12");
  // A colleague was faster; what was entered stays.
  api.refuse("POST /api/admin/needs/put-off", 409, "conflict");
  await act.click();
  await dialog.getByText(text.reason.meanwhile).waitFor();
  api.answer("POST /api/admin/needs/put-off", null as never);
  api.answer("GET /api/admin/needs", withDisputes(disputes.slice(1)));
  await act.click();
  await dialog.waitFor({ state: "detached" });
  const entry = { kind: "disputes", entry: "ch_soon 1" } as const;
  const body = { ...entry, until: "2026-03-12", reason: "The bank answers then" };
  expect(api.calls("POST /api/admin/needs/put-off").at(-1)?.body).toEqual(body);
  await expect.poll(() => page.getByText("ch_soon").count()).toBe(0);
  // The focused button is gone, so the heading gets the focus.
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("H1");

  api.answer("GET /api/admin/needs", withDisputes(disputes.slice(0, 1), [{ ...body, ...entry, by: "ben@example.com" }]));
  await page.getByRole("link", { name: text.needs.tabs.putOff, exact: true }).click();
  await page.getByText("Put off until March 12, 2026 by ben@example.com: The bank answers then").waitFor();
  expect(api.calls("GET /api/admin/needs").map(({ query }) => query)).toContainEqual({ putOff: "true" });
  api.answer("POST /api/admin/needs/bring-back", null as never);
  await button(page, text.needs.putOff.back).click();
  await page.getByRole("dialog").getByLabel(text.reason.label).fill("The bank answered");
  api.answer("GET /api/admin/needs", withDisputes([]));
  await page.getByRole("dialog").locator('button[type="submit"]').click();
  await page.getByText(text.needs.putOff.nothing).waitFor();
  expect(api.calls("POST /api/admin/needs/bring-back").at(-1)?.body).toEqual({ ...entry, reason: "The bank answered" });
});

it("each filter of a list is named, and taken away alone or with the others", async () => {
  api.answer("GET /api/admin/audit", { rows: [], nextCursor: null });
  const page = await openPanel("/admin/audit?action=need.put_off&by=ada%40example.com&about=ben%40example.com");
  const chips = page.getByRole("button", { name: /^Remove the filter/ });
  await expect.poll(() => chips.allTextContents()).toEqual(["Act: Entry put off", "Done by: ada@example.com", "Done to: ben@example.com"]);
  expect(await violationsOn(page, "filtered")).toEqual([]);
  await chips.nth(1).click();
  // The focus goes on to the next one.
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Done to: ben@example.com");
  await expect.poll(() => api.calls("GET /api/admin/audit").at(-1)?.query).toEqual({ action: "need.put_off", about: "ben@example.com" });
  expect(await page.getByRole("searchbox", { name: text.audit.by, exact: true }).inputValue()).toBe("");
  await button(page, text.table.clear).click();
  await expect.poll(() => api.calls("GET /api/admin/audit").at(-1)?.query).toEqual({});
  expect([await chips.count(), new URL(page.url()).search]).toEqual([0, ""]);
});
