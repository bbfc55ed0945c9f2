/** What the lines of the history say: what credits were for, with their invoice, and why any were taken back, on every page that lists them. */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import billing from "#client/i18n/locales/en/billing.json" with { type: "json" };
import text from "#client/i18n/locales/en/usage.json" with { type: "json" };
import type { LedgerLine } from "#contract/credits/ledger.ts";
import type { ClawbackReason } from "#domain/credits.ts";
import { languages } from "#domain/languages.ts";
import { violationsOn } from "#tests/support/accessibility.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open, starter } from "./states-support.ts";

const ledger = "GET /api/credits/ledger";
let site: Site;
const api = onStubbedSite((opened) => {
  site = opened;
});

const idOf = (index: number) => `0198c0de-0000-7000-8000-0000000000${String(index).padStart(2, "0")}`;
const invoice = { id: "in_1", number: "A-123" };
const plan = { kind: "plan", plan: "professional", interval: "month", month: null } as const;
const period = { from: "2026-03-09T23:30:00.000Z", until: "2026-04-09T23:30:00.000Z" };
const monthly = { grantKind: "plan", grantFor: { ...plan, ...period }, invoice } as const;

function lineOf(index: number, line: Partial<LedgerLine>): LedgerLine {
  return {
    ...{ id: idOf(index), kind: "grant", credits: 100, balanceAfter: 100, occurredAt: "2026-03-10T11:30:00.000Z", grantId: idOf(90) },
    ...{ grantKind: null, grantFor: null, invoice: null, reason: null, modelId: null, conversationId: null, conversationTitle: null },
    ...line,
  };
}

async function showing(path: string, heading: string, lines: LedgerLine[]): Promise<Page> {
  api.answer(ledger, { lines, nextCursor: null, readTo: null });
  const page = await open(site, path, { member: true });
  await page.getByRole("region", { name: heading, exact: true }).getByRole("listitem").first().waitFor();
  return page;
}

const itemsOf = (page: Page, heading: string) => page.getByRole("region", { name: heading, exact: true }).getByRole("listitem");

it("a line about credits that came names the plan with its month, or the pack, and leads to their invoice", async () => {
  const page = await showing("/profile/usage", text.history.title, [
    lineOf(1, monthly),
    lineOf(2, { ...monthly, grantFor: { ...plan, interval: "year", month: 2, ...period } }),
    lineOf(3, { grantKind: "pack", grantFor: { kind: "pack", pack: "pack_250", credits: 250 }, invoice: { id: "in_2", number: null } }),
    lineOf(4, { grantKind: "trial" }),
    lineOf(5, { grantKind: "adjustment" }),
    lineOf(6, { ...monthly, kind: "expire", credits: -5 }),
  ]);
  const told = await itemsOf(page, text.history.title).allTextContents();
  const range = "Mar 9 – Apr 9, 2026".replaceAll(" – ", "[\\s\\u2009]–[\\s\\u2009]");
  for (const [index, said] of [
    `Credits received.* · Professional Plan, monthly: ${range} · Invoice A-123`,
    `Credits received.* · Professional Plan, yearly, month 2 of 12: ${range} · Invoice A-123`,
    "Credits received.* · Credit pack, 250 credits · Invoice in_2",
    "Credits received.* · Free trialBalance",
    "Credits received.* · AdjustmentBalance",
    `Credits expired.* · Professional Plan, monthly: ${range} · Invoice A-123`,
  ].entries())
    expect(told[index]).toMatch(new RegExp(said));
  const link = page.getByRole("link", { name: "Invoice A-123", exact: true });
  expect(await link.count()).toBe(3);
  expect(await link.first().getAttribute("href")).toBe("/profile/billing#invoices");
});

it("a line about credits that were taken back says why, and not why others were", async () => {
  const reasons = Object.keys(billing.ledger.reason) as Exclude<ClawbackReason, "other">[];
  const lines = [...reasons, "other" as const].map((reason, index) => lineOf(index, { ...monthly, kind: "clawback", credits: -1, reason }));
  const page = await showing("/profile/usage", text.history.title, lines);
  const said = await itemsOf(page, text.history.title).locator("p:first-of-type").allTextContents();
  expect(said).toEqual([...Object.values(billing.ledger.reason), billing.ledger.kind.clawback]);
  expect(new Set(said).size).toBe(said.length);
  for (const other of [billing.ledger.kind.clawback, text.kinds.clawback, billing.wallet.debt]) expect(other).not.toMatch(/refund/i);
});

it("the wallet says of a debt only that credits were taken back, and leads to the lines that say why", async () => {
  const wallet = { balance: -120, held: 0, available: 0, frozen: false, grants: [], serverTime: "2026-03-10T12:00:00.000Z" };
  api.answer("GET /api/credits/wallet", wallet);
  api.answer("POST /api/functions/reliable-subscription-check", starter);
  const page = await showing("/profile", billing.ledger.title, [
    lineOf(1, { ...monthly, kind: "clawback", credits: -300, balanceAfter: -120, reason: "dispute" }),
  ]);
  const debt = page.getByRole("alert").filter({ hasText: "More credits were taken back than were left." });
  expect(await debt.textContent()).toContain("New credits first make up for 120 credits; then they can be spent.");
  const why = debt.getByRole("link", { name: billing.wallet.debtWhy, exact: true });
  expect(await why.getAttribute("href")).toBe("/profile/usage?kind=clawback#history");
  expect(await itemsOf(page, billing.ledger.title).first().textContent()).toContain("Taken back after a payment dispute");
});

it("the wallet says that a dispute froze the credits, who decides it and where to ask, and that none are lost", async () => {
  const days = { createdAt: "2026-03-10T00:00:00.000Z", expiresAt: "2026-04-10T00:00:00.000Z" };
  const grant = { id: idOf(90), kind: "plan" as const, credits: 300, remaining: 260, held: 0, ...days };
  const amounts = { balance: 260, held: 0, available: 0 };
  api.answer("GET /api/credits/wallet", { ...amounts, frozen: true, grants: [grant], serverTime: "2026-03-10T12:00:00.000Z" });
  api.answer("POST /api/functions/reliable-subscription-check", starter);
  const page = await showing("/profile", billing.ledger.title, [lineOf(1, monthly)]);
  const frozen = page.getByRole("alert").filter({ hasText: billing.wallet.frozen });
  const action = frozen.getByRole("link", { name: billing.wallet.frozenAction, exact: true });
  expect(await action.getAttribute("href")).toBe("/contact");
  await page.getByText(`0 ${billing.wallet.available}`).waitFor();
  await page.getByText("260", { exact: false }).first().waitFor();
  expect(await violationsOn(page, "frozen")).toEqual([]);
});

it("each language has words of its own for each reason", async () => {
  for (const { code } of languages) {
    const file = new URL(`../../client/i18n/locales/${code}/billing.json`, import.meta.url);
    const { reason, kind } = (JSON.parse(await readFile(file, "utf8")) as typeof billing).ledger;
    const words = [...Object.values(reason), kind.clawback];
    expect([code, new Set(words).size]).toEqual([code, words.length]);
  }
});
