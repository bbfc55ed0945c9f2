/** Every line of the history about a grant says what the credits were for: which plan and month, or which pack, and on which invoice. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Explanation, LedgerLine } from "#contract/credits/ledger.ts";
import { addMonths } from "#domain/clock.ts";
import type { Trx } from "#server/db/transaction.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { giveCredits } from "#server/features/credits/adjustments.ts";
import { readLedger } from "#server/features/credits/history.ts";
import { postGrant } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import { buyPack, exported, fileOf, grantOf, linesOf } from "../support/ledger-lines.ts";
import { payerIdOf } from "../support/payers.ts";
import { chargeOf, subscribe } from "../support/returns.ts";

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterEach(() => world.endPlans());
afterAll(() => world.close());

const sourceOf = ({ kind, grantKind, grantFor, invoice }: LedgerLine) => ({ kind, grantKind, grantFor, invoice });
const numberOf = async (id: string | null) => (await world.deps.payments.invoices.retrieve(id ?? "")).number;

test("a plan by the month, its period and its invoice; so do the lines that take them away, the explanation and the export", async () => {
  const person = await subscribe(world, "professional_month");
  await world.deps.payments.refunds.create({ charge: await chargeOf(world, person), amount: 500 });
  await world.settle();
  const { invoice_id: id } = await grantOf(world, person);
  const from = world.clock.now();
  const grantFor = {
    ...{ kind: "plan", plan: "professional", interval: "month", month: null },
    ...{
      from: expect.stringMatching(from.toISOString().slice(0, 10)),
      until: expect.stringMatching(addMonths(from, 1).toISOString().slice(0, 10)),
    },
  };
  const said = { grantKind: "plan", grantFor, invoice: { id, number: await numberOf(id) } };
  expect((await linesOf(world, person)).map(sourceOf)).toEqual([
    { kind: "clawback", ...said },
    { kind: "grant", ...said },
  ]);
  const { grants } = (await world.app.inject({ url: "/api/credits/explanation", headers: person.headers })).json<Explanation>();
  expect(grants).toMatchObject([{ grantFor, invoice: said.invoice }]);
  const [, row] = await fileOf(world, person);
  expect(row).toMatchObject({ kind: "grant", reason: "", grant: "plan", plan: "professional", interval: "month", month: "", pack: "" });
  expect(row).toMatchObject({ from: grantFor.from, until: grantFor.until, invoice: said.invoice.number });
  expect(await exported(world, person, "grants")).toMatchObject([
    { plan: "professional", interval: "month", monthOfYear: null, from: expect.any(String), pack: null, stripeInvoice: id },
  ]);
});

test("a plan by the year, and which month of it", async () => {
  const person = await subscribe(world, "basic_year");
  const from = world.clock.now();
  await world.moveTo(addMonths(from, 1));
  await world.settle();
  const received = (await linesOf(world, person)).filter(({ kind }) => kind === "grant").toReversed();
  const { invoice_id: id } = await grantOf(world, person);
  const day = (months: number) => expect.stringMatching(addMonths(from, months).toISOString().slice(0, 10));
  expect(received.map(({ grantFor, invoice }) => [grantFor, invoice?.id])).toEqual([
    [{ kind: "plan", plan: "basic", interval: "year", month: 1, from: day(0), until: day(1) }, id],
    [{ kind: "plan", plan: "basic", interval: "year", month: 2, from: day(1), until: day(2) }, id],
  ]);
  const rows = (await fileOf(world, person)).filter(({ kind }) => kind === "grant").toReversed();
  expect(rows.map(({ interval, month }) => [interval, month])).toEqual([
    ["year", "1"],
    ["year", "2"],
  ]);
  const own = await exported(world, person, "grants");
  expect(own.map(({ monthOfYear }) => monthOfYear)).toEqual([1, 2]);
});

test("a pack and its invoice", async () => {
  const person = await subscribe(world);
  await buyPack(world, person, "pack_250");
  const { invoice_id: id } = await grantOf(world, person, "pack");
  const number = await numberOf(id);
  expect(sourceOf((await linesOf(world, person))[0] as LedgerLine)).toEqual({
    ...{ kind: "grant", grantKind: "pack", grantFor: { kind: "pack", pack: "pack_250", credits: 250 }, invoice: { id, number } },
  });
  expect((await fileOf(world, person))[0]).toMatchObject({ grant: "pack", pack: "pack_250", plan: "", invoice: number });
});

test("a trial, and credits that the team gave: neither has a plan, a pack or an invoice", async () => {
  const [person, admin] = [await world.person(), await world.person()];
  await giveCredits(world.deps, {
    ...{
      actor: admin.userId,
      network: "192.0.2.0/24",
      userId: person.userId,
      reason: "Goodwill",
      credits: 5,
      key: randomUUID(),
      days: 30,
    },
  });
  const payerId = await payerIdOf(world.database.db, person.userId);
  const expiresAt = addMonths(world.clock.now(), 1);
  const trial = { payerId, kind: "trial", credits: 20, expiresAt, key: `trial:${payerId}` } as const;
  await inTransaction(world.deps.db, (trx) => postGrant(trx, trial, world.clock.now()));
  expect((await linesOf(world, person)).map(sourceOf)).toEqual(
    ["trial", "adjustment"].map((grantKind) => ({ kind: "grant", grantKind, grantFor: null, invoice: null })),
  );
});

test("an invoice is named only to the account it belongs to", async () => {
  const [person, other] = [await subscribe(world), await world.person()];
  const { invoice_id: id } = await grantOf(world, person);
  const otherPayer = await payerIdOf(world.database.db, other.userId);
  await world.database.db
    .updateTable("invoices")
    .set({ billing_account_id: otherPayer })
    .where("id", "=", id ?? "")
    .execute();
  expect(await linesOf(world, person)).toMatchObject([{ grantFor: { plan: "starter" }, invoice: null }]);
  expect((await fileOf(world, person))[0]).toMatchObject({ invoice: "" });
});

test("reading a page looks into a few rows of each line, however many payments there are in the books", async () => {
  const person = await subscribe(world);
  await world.deps.payments.refunds.create({ charge: await chargeOf(world, person), amount: 500 });
  await world.settle();
  expect((await world.post("/api/billing/money-back", person)).statusCode).toBe(202);
  const other = await payerIdOf(world.database.db, (await world.person()).userId);
  const fetched = async (trx: Trx) => {
    const { rows } = await sql<{ fetched: number }>`select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::integer as fetched
      from pg_stat_xact_user_tables
      where relname in ('grants', 'paid_invoice_lines', 'invoices', 'charge_returns', 'money_backs')`.execute(trx);
    return rows[0]?.fetched ?? 0;
  };
  const read = () =>
    inTransaction(world.deps.db, async (trx) => {
      const before = await fetched(trx);
      const { lines } = await readLedger(trx, person.userId, undefined, 25);
      expect(lines.map(({ reason }) => reason)).toEqual(["guarantee", "refund", null]);
      return (await fetched(trx)) - before;
    });
  await world.database.asOwner(
    `insert into paid_invoices (id, billing_account_id, stripe_customer_id, amount_paid_cents, paid_at, recorded_at)
       select 'in_many_' || n, '${other}', 'cus_many', 1999, now(), now() from generate_series(1, 4000) n;
     insert into paid_invoice_lines (invoice_id, id, plan_key, billing_interval, proration, amount_cents, period_start, period_end)
       select 'in_many_' || n, 'il_1', 'starter', 'month', false, 1999, now(), now() from generate_series(1, 4000) n;
     insert into invoices (id, billing_account_id, total_cents, unpaid_cents, refunded_cents, status, failed, needs_action, issued_at, updated_at)
       select 'in_many_' || n, '${other}', 1999, 0, 0, 'paid', false, false, now(), now() from generate_series(1, 4000) n;
     insert into charge_returns (charge_id, billing_account_id, paid_cents, refunded_cents, lost_cents, disputed, version, recorded_at)
       select 'ch_many_' || n, '${other}', 1999, 1, 0, false, 1, now() from generate_series(1, 4000) n;
     insert into money_backs (kind, billing_account_id, invoice_id, charge_id, amount_cents, asked_at)
       select 'withdrawal', '${other}', 'in_many_' || n, 'ch_many_' || n, 1, now() from generate_series(1, 4000) n;
     analyze paid_invoice_lines, invoices, charge_returns, money_backs, grants`,
  );
  expect(await read()).toBeLessThan(30);
});
