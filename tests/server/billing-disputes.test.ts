/** A dispute freezes the wallet; a won one frees it, a lost one takes credits back as a refund does. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import { consentTo } from "../support/consent.ts";
import { payerIdOf } from "../support/payers.ts";
import { chargeOf, decideDispute, mailsTo, openDispute, spend, subscribe, walletOf } from "../support/returns.ts";

let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld();
});
afterEach(async () => {
  expect(await findDisagreements(world.database.db)).toEqual([]);
  await world.endPlans();
});
afterAll(() => world.close());

const told = ["payment-refunded", "dispute-opened", "dispute-closed"];

test("opened, then won: frozen, then free with every credit", async () => {
  const person = await subscribe(world);
  const dispute = await openDispute(world, await chargeOf(world, person));
  await world.settle();
  expect(await walletOf(world, person)).toMatchObject({ balance: 300, available: 0, frozen: true });
  await expect(spend(world, person, 1)).rejects.toThrow("frozen");
  await decideDispute(world, dispute, "won");
  await world.settle();
  expect(await walletOf(world, person)).toMatchObject({ balance: 300, available: 300, frozen: false });
  await spend(world, person, 1);
  expect(await mailsTo(world, person, ...told)).toEqual([
    { template: "dispute-opened", amountCents: 1999 },
    { template: "dispute-closed", amountCents: 1999, credits: 0, left: 300, variant: "won" },
  ]);
});

test("opened, then lost: as a refund of the disputed amount; what was spent is debt; until then our books say when evidence is due", async () => {
  const person = await subscribe(world);
  await spend(world, person, 100);
  const charge = await chargeOf(world, person);
  const dispute = await openDispute(world, charge);
  await world.settle();
  const due = world.database.db.selectFrom("charge_returns").select("evidence_due_at").where("charge_id", "=", charge);
  const { evidence_details: evidence } = await world.deps.payments.disputes.retrieve(dispute);
  expect((await due.executeTakeFirst())?.evidence_due_at?.getTime()).toBe((evidence.due_by ?? 0) * 1_000);
  await decideDispute(world, dispute, "lost");
  await world.settle();
  expect((await due.executeTakeFirst())?.evidence_due_at).toBeNull();
  expect(await walletOf(world, person)).toMatchObject({ balance: -100, available: 0, frozen: false });
  expect((await mailsTo(world, person, ...told)).at(-1)).toEqual({
    template: "dispute-closed",
    amountCents: 1999,
    credits: 300,
    left: -100,
    variant: "debt",
  });
});

test("the team finds the person by what Stripe calls payment, refund and dispute, also where our books have none of these ids", async () => {
  const person = await subscribe(world);
  await world.database.db.updateTable("users").set({ role: "support" }).where("id", "=", person.userId).execute();
  const charge = await chargeOf(world, person);
  const { id: refund } = await world.deps.payments.refunds.create({ charge, amount: 500 });
  const dispute = await openDispute(world, charge);
  const intent = String((await world.deps.payments.charges.retrieve(charge)).payment_intent);
  const find = async (search: string) => world.app.inject({ url: `/api/admin/people?search=${search}`, headers: person.headers });
  for (const id of [charge, refund, dispute, intent])
    expect([id, (await find(id)).json().rows.map((row: { id: string }) => row.id)]).toEqual([id, [person.userId]]);
  for (const id of ["pi_3UnknownToEverybody", "constructor_of_anything"])
    expect((await find(id)).json()).toEqual({ rows: [], nextCursor: null, isCut: false });
  await world.settle();
});

test("a refund and a dispute of the same charge are counted once: together no more than was paid", async () => {
  const person = await subscribe(world);
  const charge = await chargeOf(world, person);
  await world.deps.payments.refunds.create({ charge, amount: 500 });
  const dispute = await openDispute(world, charge);
  await decideDispute(world, dispute, "lost");
  await world.settle();
  expect(await walletOf(world, person)).toMatchObject({ balance: 0, frozen: false });
  const row = await world.database.db.selectFrom("charge_returns").selectAll().where("charge_id", "=", charge).executeTakeFirst();
  expect(row).toMatchObject({ paid_cents: 1999, refunded_cents: 500, lost_cents: 1499, disputed: false });
});

test.each(["won", "lost"] as const)("%s: the events in any order, doubled, end in the same state", async (outcome) => {
  const states: unknown[] = [];
  for (const order of ["forwards", "backwards"] as const) {
    const person = await subscribe(world);
    await world.takeEvents();
    await decideDispute(world, await openDispute(world, await chargeOf(world, person)), outcome);
    const events = await world.takeEvents();
    await world.bring(order === "forwards" ? events : events.toReversed());
    await world.bring(events);
    const { balance, available, frozen } = await walletOf(world, person);
    states.push({ balance, available, frozen });
  }
  const left = outcome === "won" ? 300 : 0;
  expect(states).toEqual(Array.from({ length: 2 }, () => ({ balance: left, available: left, frozen: false })));
});

test("a refund does not free a wallet that an operator has frozen", async () => {
  const person = await subscribe(world);
  const payer = await payerIdOf(world.database.db, person.userId);
  await world.database.db.updateTable("wallets").set({ frozen_at: world.clock.now() }).where("billing_account_id", "=", payer).execute();
  await world.deps.payments.refunds.create({ charge: await chargeOf(world, person), amount: 500 });
  await world.settle();
  expect(await walletOf(world, person)).toMatchObject({ balance: 225, available: 0, frozen: true });
});

test("an inquiry takes no money and freezes nothing", async () => {
  const person = await subscribe(world);
  await openDispute(world, await chargeOf(world, person), true);
  await world.settle();
  expect(await walletOf(world, person)).toMatchObject({ available: 300, frozen: false });
  expect(await mailsTo(world, person, ...told)).toEqual([]);
});

test("two disputed charges: the wallet is free once both are decided", async () => {
  const person = await subscribe(world);
  const plan = await openDispute(world, await chargeOf(world, person));
  const { url } = (await world.post("/api/billing/packs/checkout", person, { pack: "pack_100", consent: consentTo("pack_100") })).json<{
    url: string;
  }>();
  await world.pay(url, "disputed_fraudulent");
  await world.settle();
  await world.moveTo(world.clock.now());
  await world.settle();
  const pack = (await world.deps.payments.disputes.list({ charge: await chargeOf(world, person, "pack") })).data[0]?.id ?? "";
  await decideDispute(world, plan, "won");
  await world.settle();
  expect(await walletOf(world, person)).toMatchObject({ frozen: true });
  await decideDispute(world, pack, "won");
  await world.settle();
  expect(await walletOf(world, person)).toMatchObject({ frozen: false, available: 400 });
});
