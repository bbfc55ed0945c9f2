/** Every line about credits that were taken back says why, to the person, in the file, in the panel and in the export. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { TransferInvoice } from "#contract/billing/transfers.ts";
import type { Withdrawals } from "#contract/billing/withdrawals.ts";
import type { LedgerLine } from "#contract/credits/ledger.ts";
import { addMonths } from "#domain/clock.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { returnLate } from "#server/features/billing/ask-back.ts";
import { checkDoubledGrants } from "#server/features/billing/grant-checks.ts";
import { settleTransfer } from "#server/features/billing/transfers.ts";
import { giveCredits, takeCredits } from "#server/features/credits/adjustments.ts";
import { findDisagreements, postGrant } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";
import { buyPack, exported, fileOf, grantOf, linesOf } from "../support/ledger-lines.ts";
import { chargeOf, decideDispute, openDispute, spend, subscribe } from "../support/returns.ts";

let world: BillingWorld;
let admin: Person;
beforeAll(async () => {
  world = await startBillingWorld();
  admin = await world.person();
  await world.database.db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.userId).execute();
});
afterEach(async () => {
  expect(await findDisagreements(world.database.db)).toEqual([]);
  await world.endPlans();
});
afterAll(() => world.close());

interface Told {
  reason: LedgerLine["reason"];
  credits: number;
}

/** Asserts that the lines about credits that were taken back say this, the oldest first, and that file, panel and export say the same. */
async function expectReasons(person: Person, expected: Told[]): Promise<void> {
  const ofClawbacks = (lines: readonly LedgerLine[]) =>
    lines
      .filter(({ kind }) => kind === "clawback")
      .map(({ reason, credits }) => ({ reason, credits }))
      .toReversed();
  const lines = await linesOf(world, person);
  expect(ofClawbacks(lines)).toEqual(expected);
  // No other line has a reason of these.
  expect(lines.filter(({ kind, reason }) => kind !== "clawback" && reason !== null)).toEqual([]);
  const url = `/api/admin/people/${person.userId}/ledger`;
  expect(ofClawbacks((await world.app.inject({ url, headers: admin.headers })).json<{ lines: LedgerLine[] }>().lines)).toEqual(expected);
  const rows = (await fileOf(world, person)).filter(({ kind }) => kind === "clawback").toReversed();
  expect(rows.map(({ reason, credits }) => ({ reason, credits: Number(credits) }))).toEqual(expected);
  const moved = (await exported(world, person, "ledger")).filter(({ kind }) => kind === "clawback");
  expect(moved.map(({ reason }) => reason)).toEqual(expected.map(({ reason }) => reason));
  expect((await exported(world, person, "ledger")).filter(({ kind, reason }) => kind !== "clawback" && reason !== null)).toEqual([]);
}

const refund = async (person: Person, amount?: number) =>
  world.deps.payments.refunds.create({ charge: await chargeOf(world, person), ...(amount === undefined ? {} : { amount }) });

describe("credits that were taken back say why:", () => {
  test("a refund", async () => {
    const person = await subscribe(world);
    await refund(person, 500);
    await world.settle();
    await expectReasons(person, [{ reason: "refund", credits: -75 }]);
  });

  test("a dispute that the bank decided for its customer", async () => {
    const person = await subscribe(world);
    await decideDispute(world, await openDispute(world, await chargeOf(world, person)), "lost");
    await world.settle();
    await expectReasons(person, [{ reason: "dispute", credits: -300 }]);
  });

  test("a refund and later a dispute of the same payment, each its own", async () => {
    const person = await subscribe(world);
    await refund(person, 500);
    await world.settle();
    await decideDispute(world, await openDispute(world, await chargeOf(world, person)), "lost");
    await world.settle();
    await expectReasons(person, [
      { reason: "refund", credits: -75 },
      { reason: "dispute", credits: -225 },
    ]);
  });

  test("a refund and a dispute that were read at once: that the payment went back, which is true of both", async () => {
    const person = await subscribe(world);
    await refund(person, 500);
    const dispute = await openDispute(world, await chargeOf(world, person));
    await decideDispute(world, dispute, "lost");
    await world.settle();
    await expectReasons(person, [{ reason: "payment_returned", credits: -300 }]);
  });

  test("a month of a year that came after the refund", async () => {
    const person = await subscribe(world, "starter_year");
    await refund(person);
    await world.settle();
    await world.moveTo(addMonths(world.clock.now(), 1));
    await world.settle();
    const reasons = (await linesOf(world, person)).filter(({ kind }) => kind === "clawback").map(({ reason }) => reason);
    expect([...new Set(reasons)]).toEqual(["refund"]);
    expect(reasons).toHaveLength(2);
  });

  test("the money-back guarantee, and the refund of it takes nothing else", async () => {
    const person = await subscribe(world);
    expect((await world.post("/api/billing/money-back", person)).statusCode).toBe(202);
    await refund(person);
    await world.settle();
    await expectReasons(person, [{ reason: "guarantee", credits: -300 }]);
  });

  test("a withdrawal from the contract, of a plan and of a pack", async () => {
    const person = await subscribe(world);
    await buyPack(world, person, "pack_100");
    const { contracts } = (await world.app.inject({ url: "/api/billing/withdrawals", headers: person.headers })).json<Withdrawals>();
    for (const kind of ["pack", "plan"]) {
      const contractId = contracts.find(({ subject }) => subject.kind === kind)?.id;
      expect((await world.post("/api/billing/withdrawals", person, { contractId })).statusCode).toBe(202);
    }
    await expectReasons(person, [
      { reason: "withdrawal", credits: -100 },
      { reason: "withdrawal", credits: -300 },
    ]);
  });

  test("a payment that came after the plan's end", async () => {
    const person = await subscribe(world);
    const { payerId, invoice_id: id, charge_id: chargeId } = await grantOf(world, person);
    const invoice = await world.deps.payments.invoices.retrieve(id ?? "");
    await inTransaction(world.deps.db, (trx) => returnLate(trx, payerId, { invoice, lines: [], chargeId }, world.clock.now()));
    await expectReasons(person, [{ reason: "late_payment", credits: -300 }]);
  });

  /** Somebody who has paid for Enterprise by bank transfer. */
  async function payer(): Promise<{ person: Person; reference: string; invoiceId: string }> {
    const person = await world.person();
    const wish = { email: person.email, interval: "month", daysUntilDue: 14, reason: "They asked for it" };
    await world.post("/api/admin/transfers/offer", admin, wish);
    const placed = await world.post("/api/billing/transfer-offer/order", person, { consent: consentTo("enterprise_month") });
    const { invoiceId, amountCents } = placed.json<TransferInvoice>();
    await world.settle();
    const received = { reference: person.email, invoiceId, amountCents, currency: "usd", reason: "Bank statement" };
    expect((await world.post("/api/admin/transfers", admin, received)).statusCode).toBe(204);
    await settleTransfer(world.deps, person.email);
    await world.settle();
    return { person, reference: person.email, invoiceId };
  }

  test("a bank transfer that the bank took back", async () => {
    const { person, reference } = await payer();
    await spend(world, person, 50);
    const reversed = await world.post("/api/admin/transfers/reverse", admin, { reference, reason: "The bank took it back" });
    expect(reversed.statusCode).toBe(204);
    await expectReasons(person, [{ reason: "transfer_reversed", credits: -1250 }]);
  });

  test("a withdrawal from a contract that a bank transfer paid", async () => {
    const { person, invoiceId } = await payer();
    expect((await world.post("/api/billing/withdrawals", person, { contractId: invoiceId })).statusCode).toBe(202);
    await expectReasons(person, [{ reason: "withdrawal", credits: -1250 }]);
  });

  test("a grant that was posted twice", async () => {
    const person = await subscribe(world);
    const grant = await grantOf(world, person);
    await inTransaction(world.deps.db, async (trx) => {
      const source = { invoiceId: grant.invoice_id, invoiceLineId: grant.invoice_line_id };
      const again = { payerId: grant.payerId, kind: "plan", credits: 300, expiresAt: grant.expires_at } as const;
      await postGrant(trx, { ...again, key: `again:${grant.id}`, source }, world.clock.now());
    });
    await checkDoubledGrants({ deps: world.deps, by: "doctor" }, [grant.wallet_id]);
    await expectReasons(person, [{ reason: "duplicate", credits: -300 }]);
  });

  const act = (person: Person, credits: number) => ({
    ...{ actor: admin.userId, network: "192.0.2.0/24", userId: person.userId, reason: "A mistake", credits, key: randomUUID() },
  });

  test("the team took them", async () => {
    const person = await world.person();
    await giveCredits(world.deps, { ...act(person, 40), days: 30 });
    const { id: grantId } = await grantOf(world, person, "adjustment");
    await takeCredits(world.deps, { ...act(person, 15), grantId });
    await expectReasons(person, [{ reason: "taken_by_team", credits: -15 }]);
  });
});
