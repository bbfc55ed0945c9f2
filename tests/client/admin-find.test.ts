/** The panel's field that finds a person from anywhere, and the way back to the list. */
import type { Page } from "playwright-core";
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
const addressOf = (page: Page) => new URL(page.url()).pathname + new URL(page.url()).search;

it("one key finds a person from anywhere in the panel, by the keyboard alone; the way back to the list keeps its filters", async () => {
  api.answer("POST /api/functions/verify-admin", { isAdmin: true, team: "admin" });
  api.answer("GET /api/admin/me", { role: "admin" });
  api.answer("GET /api/admin/people", { rows: [ada], nextCursor: null, isCut: false });
  const page = await open(site, "/admin/people?state=banned", { member: true });
  const dialog = page.getByRole("dialog", { name: text.find.title });
  const field = dialog.getByRole("searchbox");
  await page.getByRole("cell", { name: ada.email }).waitFor();

  // Written into a field it is a letter; Ctrl+K opens from there as well.
  await page.getByRole("searchbox").press("/");
  expect(await page.getByRole("searchbox").inputValue()).toBe("/");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("cus_1");
  await dialog.getByRole("link", { name: ada.email }).waitFor();
  expect(await violationsOn(page, "found", { within: "dialog[open]" })).toEqual([]);
  expect(api.calls("GET /api/admin/people").at(-1)?.query).toMatchObject({ search: "cus_1" });
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  expect(addressOf(page)).toBe(`/admin/people/${ada.id}`);
  await page.getByRole("link", { name: text.sections.people, exact: true }).last().click();
  await page.getByRole("cell", { name: ada.email }).waitFor();
  expect(addressOf(page)).toBe("/admin/people?state=banned");

  await page.keyboard.press("/");
  api.answer("GET /api/admin/people", { rows: [], nextCursor: null, isCut: false });
  await field.fill("evt_2");
  await dialog.getByRole("link", { name: "Open the event evt_2" }).waitFor();
  await field.fill("ab");
  await dialog.getByText(text.find.nobody).waitFor();
  api.refuse("GET /api/admin/people", 503, "service_unavailable");
  await field.fill("audit");
  await dialog.getByText(text.table.failed).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: text.sections.audit }).waitFor();
});
