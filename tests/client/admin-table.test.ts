/** What stands above every list of the panel: which columns it shows, and all of it as a file. */
import { expect, it } from "vitest";
import text from "#client/i18n/locales/en/admin.json" with { type: "json" };
import type { PersonRow } from "#contract/admin/people.ts";
import { violationsOn } from "#tests/support/accessibility.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open } from "./states-support.ts";

let site: Site;
const api = onStubbedSite((opened) => {
  site = opened;
});
const ada: PersonRow = {
  id: "7d0f6a52-1c1e-4a5f-9a58-3f1f5d1c9b02",
  email: "ada@example.com",
  name: "Ada",
  role: "user",
  createdAt: "2026-03-01T11:00:00.000Z",
  lastSignInAt: null,
  plan: null,
  planStatus: null,
  credits: 0,
  bannedAt: null,
  deleteAt: null,
};

it("the columns are chosen by keyboard and by pointer, stay in the address and its history, and the first one can't be left out", async () => {
  api.answer("POST /api/functions/verify-admin", { isAdmin: true, team: "admin" });
  api.answer("GET /api/admin/me", { role: "admin" });
  api.answer("GET /api/admin/people", { rows: [ada], nextCursor: null, isCut: false });
  const page = await open(site, "/admin/people?state=banned", { member: true });
  await page.getByRole("cell", { name: ada.email }).waitFor();
  const heads = () => page.getByRole("columnheader").allInnerTexts();
  const usual = await heads();
  const menu = page.locator("details", { has: page.locator("summary", { hasText: text.table.columns }) });
  const box = (name: string) => menu.getByRole("checkbox", { name, exact: true });
  await menu.locator("summary").press("Enter");
  // Every other column is there, also those that are not shown at first.
  const offered = await menu.locator("label").allInnerTexts();
  expect(offered).not.toContain(usual[0]?.trim());
  expect(offered.length).toBeGreaterThanOrEqual(usual.length - 1);
  expect(await violationsOn(page, "columns", { within: "main" })).toEqual([]);
  const left = offered.find((name) => usual.some((head) => head.trim() === name.trim())) ?? "";
  await box(left).press("Space");
  await expect.poll(heads).toEqual(usual.filter((head) => head.trim() !== left.trim()));
  // The filter stays, and the list is not read again for it.
  const search = () => new URL(page.url()).searchParams;
  expect([search().get("state"), search().get("columns")?.split(",").length]).toEqual(["banned", usual.length - 1]);
  await page.reload();
  await page.getByRole("cell", { name: ada.email }).waitFor();
  expect(await heads()).toEqual(usual.filter((head) => head.trim() !== left.trim()));
  await menu.locator("summary").click();
  await box(left).check();
  await expect.poll(heads).toEqual(usual);
  await page.keyboard.press("Escape");
  await expect.poll(() => menu.getAttribute("open")).toBeNull();
});
