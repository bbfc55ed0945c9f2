/** Acts of the panel that meet what a colleague did meanwhile: the page is read again, and says what became of them. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import text from "#client/i18n/locales/en/admin.json" with { type: "json" };
import invoicesText from "#client/i18n/locales/en/invoices.json" with { type: "json" };
import type { AdminModel } from "#contract/admin/models.ts";
import type { Needs } from "#contract/admin/needs.ts";
import type { PersonPage } from "#contract/admin/people.ts";
import { violationsOn } from "#tests/support/accessibility.ts";
import type { Site } from "./frame-support.ts";
import { noPlan, onStubbedSite, open } from "./states-support.ts";

let site: Site;
const api = onStubbedSite((opened) => {
  site = opened;
  api.answer("POST /api/functions/verify-admin", { isAdmin: true, team: "admin" });
});

const id = "7d0f6a52-1c1e-4a5f-9a58-3f1f5d1c9b02";
const other = "7d0f6a52-1c1e-4a5f-9a58-3f1f5d1c9b03";
const at = "2026-03-10T11:00:00.000Z";
const nobody = { userId: null, email: null };
const none = { rows: [], isMore: false };
const noNeeds: Needs = {
  ...{ findings: none, deadLetters: none, failedPayments: none, disputes: none, holds: none, unanswered: none },
  ...{ refusedMails: none, transfers: none, models: none, putOff: [], checkingSince: null },
};

function personPage(refundedCents: number): PersonPage {
  const invoice = { id: "in_1", number: "A-1", issuedAt: at, subject: { kind: "other" as const }, totalCents: 1_999, tax: null };
  const shown = { addressMissing: false, state: "paid" as const, creditNotes: [], transferReference: null };
  return {
    person: {
      ...{ id, email: "ada@example.com", name: null, role: "user", createdAt: at, lastSignInAt: null, plan: null, planStatus: null },
      ...{ credits: 100, bannedAt: null, deleteAt: null },
    },
    language: "de",
    waysIn: { password: true, google: null, passkeys: 0, totp: false, recoveryCodes: 0 },
    takenOver: { ways: [], earlierEmail: null },
    sessions: [],
    subscription: noPlan,
    wallet: { balance: 100, held: 0, available: 100, frozen: false, grants: [], serverTime: at },
    supportAccess: { until: null, askedAt: null },
    money: {
      ...{ billingAccountId: other, customerId: "cus_1", subscriptionId: "sub_1", dashboardUrl: "https://dashboard.stripe.com/test/" },
      ...{ invoices: [{ ...invoice, ...shown, refundedCents }], disputes: [], transfers: [], leftToGive: 5_000 },
    },
  };
}

const person = `GET /api/admin/people/${id}` as "GET /api/admin/people/:userId";
const onPerson = <Name extends string>(method: "GET" | "POST", path: string) => `${method} /api/admin/people/${id}/${path}` as Name;
const explanation = onPerson<"GET /api/admin/people/:userId/explanation">("GET", "explanation");
const ledger = onPerson<"GET /api/admin/people/:userId/ledger">("GET", "ledger");

async function openPanel(path: string): Promise<Page> {
  api.answer("POST /api/functions/verify-admin", { isAdmin: true, team: "admin" });
  api.answer("GET /api/admin/me", { role: "admin" });
  api.answer("GET /api/admin/views", { views: [] });
  if (path.includes("people")) api.answer("GET /api/admin/needs", noNeeds);
  return open(site, path, { member: true });
}
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
async function confirm(page: Page, name: string): Promise<void> {
  const dialog = page.getByRole("dialog", { name });
  await dialog.getByLabel(text.reason.label).fill("They wrote to us");
  await dialog.locator('button[type="submit"]').click();
}

it("a refund that somebody else's refund made stale shows the new figures, and is asked for with those", async () => {
  api.answer(person, personPage(0));
  const page = await openPanel(`/admin/people/${id}`);
  const refunds = onPerson<"POST /api/admin/people/:userId/refunds">("POST", "refunds");
  api.refuse(refunds, 409, "preview_outdated");
  await button(page, text.person.refund.title).click();
  api.answer(person, personPage(500));
  await confirm(page, text.person.refund.title);
  await page.getByText(invoicesText.refunded.replace("{{amount}}", "$5.00")).waitFor();
  api.answer(refunds, {} as never);
  const dialog = page.getByRole("dialog", { name: text.person.refund.title });
  await dialog.getByLabel(text.person.refund.amount).fill("3");
  await dialog.locator('button[type="submit"]').click();
  await dialog.waitFor({ state: "detached" });
  expect(api.calls(refunds).map(({ body }) => (body as { refundedCents: number }).refundedCents)).toEqual([0, 500]);
});

it("in the list of invoices such a refund keeps its dialog and what was entered", async () => {
  const sold = { plan: null, interval: null, packCredits: null, totalCents: 1_999, taxCents: null, transferReference: null };
  const row = { id: "in_1", number: "A-1", issuedAt: at, state: "paid" as const, ...sold };
  const invoices = onPerson<"GET /api/admin/people/:userId/invoices">("GET", "invoices");
  const refunds = onPerson<"POST /api/admin/people/:userId/refunds">("POST", "refunds");
  api.answer(person, personPage(0));
  api.answer(invoices, { rows: [{ ...row, refundedCents: 0 }], nextCursor: null });
  const page = await openPanel(`/admin/people/${id}/invoices`);
  api.refuse(refunds, 409, "preview_outdated");
  await button(page, text.person.refund.title).click();
  api.answer(person, personPage(500));
  api.answer(invoices, { rows: [{ ...row, refundedCents: 500 }], nextCursor: null });
  const dialog = page.getByRole("dialog", { name: text.person.refund.title });
  await dialog.getByLabel(text.person.refund.amount).fill("3");
  await confirm(page, text.person.refund.title);
  await page.getByRole("cell", { name: "$5.00" }).waitFor();
  expect(await dialog.getByLabel(text.reason.label).inputValue()).toBe("They wrote to us");
  expect(await dialog.getByLabel(text.person.refund.amount).inputValue()).toBe("3");
  api.answer(refunds, {} as never);
  await dialog.locator('button[type="submit"]').click();
  await dialog.waitFor({ state: "detached" });
  expect(api.calls(refunds).map(({ body }) => (body as { refundedCents: number }).refundedCents)).toEqual([0, 500]);
});

it("after an act that a colleague was faster with, the person is read again", async () => {
  api.answer(person, personPage(0));
  const page = await openPanel(`/admin/people/${id}`);
  const banned = { ...personPage(0), person: { ...personPage(0).person, bannedAt: at } };
  api.refuse(onPerson("POST", "ban"), 409, "conflict");
  await page.locator("summary", { hasText: text.person.more }).click();
  await button(page, text.person.ban.title).click();
  api.answer(person, banned);
  await confirm(page, text.person.ban.title);
  await page.getByRole("dialog").getByRole("button", { name: "Cancel", exact: true }).click();
  await button(page, text.person.unban.title).waitFor();
  expect(await violationsOn(page, "person")).toEqual([]);
});

it("credits that were given are in the open list at once; a page of it without a match leads on", async () => {
  api.answer(person, personPage(0));
  api.answer(explanation, { balance: 100, held: 0, closedCredits: 0, grants: [], agrees: true });
  api.answer(ledger, { lines: [], nextCursor: "more", readTo: null });
  const page = await openPanel(`/admin/people/${id}/ledger?kind=capture`);
  await page.getByText(text.table.nothingHere).waitFor();
  await button(page, text.table.next).waitFor();
  api.answer(onPerson<"POST /api/admin/people/:userId/credits">("POST", "credits"), {} as never);
  await button(page, text.person.give.title).click();
  await page.getByRole("dialog").getByLabel(text.person.give.credits).fill("20");
  const line = { id: other, kind: "grant" as const, credits: 20, occurredAt: at, balanceAfter: 120, grantKind: "adjustment" as const };
  const rest = { modelId: null, conversation: null, generationId: null };
  api.answer(ledger, { lines: [{ ...line, ...rest } as never], nextCursor: null, readTo: null });
  await confirm(page, text.person.give.title);
  await page.getByRole("cell", { name: "+20" }).waitFor();
});

it("the list of a person's credits says which plan and invoice they came with, and why any were taken back", async () => {
  api.answer(person, personPage(0));
  const period = { from: "2026-03-10T10:00:00.000Z", until: "2026-04-10T10:00:00.000Z" };
  const grantFor = { kind: "plan" as const, plan: "starter" as const, interval: "month" as const, month: null, ...period };
  const sold = { grantKind: "plan" as const, grantFor, invoice: { id: "in_1", number: "A-123" }, grantId: other, occurredAt: at };
  const unspent = { modelId: null, conversationId: null, conversationTitle: null };
  const taken = { ...sold, ...unspent, id: id, kind: "clawback" as const, credits: -300, balanceAfter: 0, reason: "dispute" as const };
  api.answer(explanation, { balance: 0, held: 0, closedCredits: 300, grants: [], agrees: true });
  api.answer(ledger, {
    lines: [taken, { ...taken, id: other, kind: "grant", credits: 300, balanceAfter: 300, reason: null }],
    ...{ nextCursor: null, readTo: null },
  });
  const page = await openPanel(`/admin/people/${id}/ledger`);
  await page.getByRole("cell", { name: "Taken back after a payment dispute", exact: true }).waitFor();
  expect(await page.getByRole("cell", { name: /^Starter Plan, monthly: Mar 10.*Apr 10, 2026 · Invoice A-123$/ }).count()).toBe(2);
});

it("a job that a colleague has discarded does not look done; holds that stayed are said", async () => {
  const waits = { entry: "1", dueBy: null };
  const letter = { id: other, ...waits, job: "pay-back", error: "no such charge", failedAt: at };
  api.answer("GET /api/admin/needs", { ...noNeeds, deadLetters: { rows: [letter], isMore: false } });
  const page = await openPanel("/admin/needs");
  api.answer("POST /api/admin/dead-letters/replay", { results: [{ id: other, outcome: "discarded" }] });
  await button(page, text.work.replay).click();
  const hold = { id: other, ...waits, credits: 30, deadline: at, ...nobody };
  api.answer("GET /api/admin/needs", { ...noNeeds, holds: { rows: [hold], isMore: false } });
  await confirm(page, text.work.replay);
  await page.getByText(text.work.outcome.discarded).waitFor();
  api.answer("POST /api/admin/holds/release", { count: 0 });
  await button(page, text.needs.release).click();
  await confirm(page, text.needs.release);
  await page.getByText(text.needs.releasedNone).waitFor();
});

it("a search that is cut says so; a day to come is one by the server's clock", async () => {
  api.answer("GET /api/admin/people", { rows: [personPage(0).person], nextCursor: null, isCut: true });
  const page = await openPanel("/admin/people?search=a");
  await page.getByText(text.table.cut.replace("{{most}}", "250")).waitFor();
  const model: AdminModel = {
    ...{
      id: "x",
      name: "Model X",
      provider: "openai",
      category: "text",
      state: "offered",
      upstreamModel: "x",
      from: "2026-01-01",
    },
    ...{ until: null, successor: null, credits: 1, unit: "answer", priceVersion: "1", leastCredits: 1, offBy: null, texts: {} },
    ...{ prices: [{ beginsOn: null, credits: 1, state: "now" }], version: 0, switchedAt: null, pausedSeconds: null, sandbox: false },
    ...{ today: { answers: 0, failed: 0 }, lastHour: { answers: 0, failed: 0 }, finding: null },
  };
  // The sandbox's clock is years ahead of this device's.
  api.answer("GET /api/environment", { sandboxUrl: null, google: false, notice: null, serverTime: "2031-05-01T10:00:00.000Z" });
  api.answer("GET /api/admin/models", { rows: [model], nextCursor: null });
  await page.goto(`${site.address}/admin/models?model=x`);
  await button(page, text.models.prices.plan).click();
  const begins = page.getByLabel(text.models.prices.begins);
  await expect.poll(async () => begins.inputValue()).toBe("2031-05-15");
  await begins.fill("2031-05-01");
  await page.getByText(text.models.prices.beginsWrong).waitFor();
});
