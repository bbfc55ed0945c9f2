/** Giving an account back from the person's page in the panel: which ways to sign in go, and to which address the link goes. */
import { expect, it } from "vitest";
import text from "#client/i18n/locales/en/admin.json" with { type: "json" };
import type { Needs } from "#contract/admin/needs.ts";
import type { PersonPage } from "#contract/admin/people.ts";
import type { Site } from "./frame-support.ts";
import { noPlan, onStubbedSite, open } from "./states-support.ts";

let site: Site;
const api = onStubbedSite((opened) => {
  site = opened;
});

const id = "7d0f6a52-1c1e-4a5f-9a58-3f1f5d1c9b02";
const at = "2026-03-10T11:00:00.000Z";
const none = { rows: [], isMore: false };
const noNeeds: Needs = {
  ...{ findings: none, deadLetters: none, failedPayments: none, disputes: none, holds: none, unanswered: none },
  ...{ refusedMails: none, transfers: none, models: none, putOff: [], checkingSince: null },
};
const page: PersonPage = {
  person: {
    ...{ id, email: "thief@example.com", name: null, role: "user", createdAt: at, lastSignInAt: null, plan: null, planStatus: null },
    ...{ credits: 100, bannedAt: null, deleteAt: null },
  },
  language: "de",
  waysIn: { password: true, google: "thief@example.com", passkeys: 2, totp: false, recoveryCodes: 0 },
  takenOver: {
    ways: [
      { kind: "passkey", addedAt: "2026-01-07T10:00:00.000Z" },
      { kind: "passkey", addedAt: "2026-03-10T09:00:00.000Z" },
      { kind: "google", addedAt: "2026-03-10T09:05:00.000Z" },
    ],
    earlierEmail: "ada@example.com",
  },
  sessions: [],
  subscription: noPlan,
  wallet: { balance: 100, held: 0, available: 100, frozen: false, grants: [], serverTime: at },
  supportAccess: { until: null, askedAt: null },
  money: null,
};
const words = text.person.giveBack;
const call = `POST /api/admin/people/${id}/give-back` as "POST /api/admin/people/:userId/give-back";

it("says which ways go and stay from the day that is chosen on, and that the earlier address gets the link", async () => {
  api.answer("POST /api/functions/verify-admin", { isAdmin: true, team: "admin" });
  api.answer("GET /api/admin/me", { role: "admin" });
  api.answer("GET /api/admin/views", { views: [] });
  api.answer("GET /api/admin/needs", noNeeds);
  api.answer(`GET /api/admin/people/${id}` as "GET /api/admin/people/:userId", page);
  api.answer(call, {} as never);
  const shown = await open(site, `/admin/people/${id}`, { member: true, viewport: { width: 390, height: 844 } });
  await shown.getByRole("button", { name: words.title, exact: true }).click();
  const dialog = shown.getByRole("dialog", { name: words.title });
  await dialog.getByText(words.earlier.replace("{{email}}", "thief@example.com").replace("{{earlier}}", "ada@example.com")).waitFor();
  const fates = async () =>
    (await dialog.getByRole("listitem").allTextContents()).map((row) => (row.endsWith(words.goes) ? "goes" : "stays"));
  expect(await fates()).toEqual(["stays", "goes", "goes"]);
  await dialog.getByLabel(words.since).selectOption("2026-01-07");
  expect(await fates()).toEqual(["goes", "goes", "goes"]);
  await dialog.getByLabel(words.since).selectOption("");
  expect(await fates()).toEqual(["stays", "stays", "stays"]);
  await dialog.getByLabel(words.since).selectOption("2026-03-10");
  await dialog.getByLabel(text.reason.label).fill("They wrote to us");
  await dialog.locator('button[type="submit"]').click();
  await dialog.waitFor({ state: "detached" });
  expect(api.calls(call).map(({ body }) => body)).toEqual([{ reason: "They wrote to us", since: "2026-03-10" }]);
  await shown.getByText(words.done.replace("{{email}}", "thief@example.com")).waitFor();
});
