/** The check that a person asks for when something is wrong with a payment. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PaymentCheck } from "#contract/billing/doctor.ts";
import { hourMs } from "#domain/clock.ts";
import { findPayer } from "#server/db/payer.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { ensureLeaseRow, whileAlone } from "#server/features/billing/payments-lease.ts";
import { holdForSeveral } from "#server/features/credits/holds.ts";
import { postGrant } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";

const path = "/api/billing/doctor";
let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.close());

async function check(person: Person): Promise<PaymentCheck> {
  const answer = await world.post(path, person);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<PaymentCheck>();
}
const right: PaymentCheck = { complete: true, items: [] };
const findingsOf = async (person: Person) =>
  world.database.db
    .selectFrom("findings")
    .selectAll()
    .where("billing_account_id", "=", (await findPayer(world.database.db, person.userId)) ?? "")
    .execute();

test("says that everything is right to somebody who never paid, and to somebody who did", async () => {
  const person = await world.person();
  expect(await check(person)).toEqual(right);
  await world.buy(person);
  await world.settle();
  expect(await check(person)).toEqual(right);
  expect(await findingsOf(person)).toEqual([]);
});

test("books a plan whose every event was lost, says so, and has nothing to do the second time", async () => {
  const person = await world.person();
  await world.buy(person);
  await world.takeEvents();
  expect(await check(person)).toEqual({
    complete: true,
    items: [{ kind: "payment_booked", paidAt: expect.stringMatching(/^2026-03-10T/), amountCents: 1999, credits: 300 }],
  });
  expect(await stateOf(world, person.userId)).toMatchObject({ subscription: { status: "active" }, wallet: { balance: 300 } });
  const { db } = world.database;
  const invoices = await db
    .selectFrom("invoices")
    .select("status")
    .where("billing_account_id", "=", (await findPayer(db, person.userId)) ?? "");
  expect(await invoices.execute()).toEqual([{ status: "paid" }]);
  expect(await check(person)).toEqual(right);
  expect(await findingsOf(person)).toMatchObject([{ kind: "unrecorded_payment", resolved_by: "doctor", times_seen: 1 }]);
});

test("puts right everything of one person that is wrong at once, and nothing of anybody else's", async () => {
  const { db } = world.database;
  const [person, other] = [await world.person(), await world.person()];
  await world.buy(person);
  await world.settle();
  await world.buy(other);
  await world.takeEvents();
  const opened = await world.post("/api/billing/packs/checkout", person, { pack: "pack_100", consent: consentTo("pack_100") });
  await world.pay(opened.json<{ url: string }>().url);
  await world.takeEvents();
  await db.updateTable("user_subscriptions").set({ plan_key: "enterprise" }).where("user_id", "=", person.userId).execute();
  await db
    .updateTable("invoices")
    .set({ status: "open", unpaid_cents: 5 })
    .where("billing_account_id", "=", (await findPayer(db, person.userId)) ?? "")
    .execute();
  const grant = await db
    .selectFrom("grants")
    .innerJoin("wallets", "wallets.id", "grants.wallet_id")
    .selectAll("grants")
    .where("billing_account_id", "=", (await findPayer(db, person.userId)) ?? "")
    .executeTakeFirstOrThrow();
  await inTransaction(world.deps.db, async (trx) => {
    const payerId = (await findPayer(trx, person.userId)) ?? "";
    const source = { invoiceId: grant.invoice_id, invoiceLineId: grant.invoice_line_id };
    const again = { payerId, kind: "plan", credits: 300, expiresAt: grant.expires_at, key: `again:${grant.id}`, source } as const;
    await postGrant(trx, again, world.clock.now());
  });
  const { items, complete } = await check(person);
  expect(complete).toBe(true);
  expect(items.map(({ kind }) => kind).sort()).toEqual(["doubled_removed", "invoice_updated", "payment_booked", "subscription_updated"]);
  expect(await stateOf(world, person.userId)).toMatchObject({ subscription: { plan_key: "starter" }, wallet: { balance: 400 } });
  expect(await check(person)).toEqual(right);
  expect((await stateOf(world, other.userId)).wallet?.balance).toBe(0);
  expect(await findingsOf(other)).toEqual([]);
});

test("says that something is left if only a person can decide it", async () => {
  const person = await world.person();
  await world.buy(person);
  await world.settle();
  const { db } = world.database;
  const payerId = (await findPayer(db, person.userId)) ?? "";
  const grant = await db
    .selectFrom("grants")
    .innerJoin("wallets", "wallets.id", "grants.wallet_id")
    .selectAll("grants")
    .where("billing_account_id", "=", payerId)
    .executeTakeFirstOrThrow();
  const now = world.clock.now();
  await inTransaction(world.deps.db, async (trx) => {
    const source = { invoiceId: grant.invoice_id, invoiceLineId: grant.invoice_line_id };
    await postGrant(trx, { payerId, kind: "plan", credits: 300, expiresAt: grant.expires_at, key: `again:${grant.id}`, source }, now);
    await holdForSeveral(trx, { holdId: randomUUID(), userId: person.userId, credits: 400, kinds: ["plan"], holdMs: hourMs, now });
  });
  expect(await check(person)).toEqual({ complete: true, items: [{ kind: "left" }] });
  expect(await findingsOf(person)).toMatchObject([{ kind: "doubled_grant", resolved_at: null }]);
});

test("several checks at once are one, and the seventh within an hour is refused", async () => {
  const person = await world.person();
  await world.buy(person);
  await world.takeEvents();
  const payerId = (await findPayer(world.database.db, person.userId)) ?? "";
  await ensureLeaseRow(world.deps.db, payerId);
  // The account is busy until all five are there, so that none of them begins after the first has finished.
  const checks = await whileAlone(world.deps.db, payerId, async () => {
    const begun = Array.from({ length: 5 }, () => check(person));
    await delay(1_000);
    return { begun };
  });
  const results = await Promise.all(checks?.result.begun ?? []);
  expect(results).toHaveLength(5);
  expect(results[0]?.items).toHaveLength(1);
  for (const result of results) expect(result).toEqual(results[0]);
  expect((await stateOf(world, person.userId)).wallet?.balance).toBe(300);
  for (let more = 0; more < 5; more += 1) expect(await check(person)).toEqual(right);
  const refused = await world.post(path, person);
  expect(refused.json()).toMatchObject({ status: 429, code: "rate_limited" });
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(3_000);
  expect(refused.headers["ratelimit-policy"]).toContain('"payment-checks";q=6;w=3600');
});

test("an admin's check for somebody else is in the audit log with both, the person's own is not", async () => {
  const { db } = world.database;
  const [person, admin] = [await world.person(), await world.person()];
  const events = async () => db.selectFrom("audit_events").selectAll().where("action", "=", "payments.checked").execute();
  await check(person);
  expect(await events()).toEqual([]);
  const byTeam = (userId: string) => world.post(`/api/admin/people/${userId}/check-payments`, admin, { reason: "They asked by mail" });
  expect((await byTeam(person.userId)).json().code).toBe("not_found");
  await db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.userId).execute();
  expect((await byTeam(person.userId)).json()).toEqual(right);
  expect((await byTeam(randomUUID())).json().code).toBe("not_found");
  const [event] = await events();
  const people = await db.selectFrom("audit_people").selectAll().where("user_id", "in", [person.userId, admin.userId]).execute();
  const idOf = (userId: string) => people.find((row) => row.user_id === userId)?.id;
  expect(event).toMatchObject({ actor: idOf(admin.userId), subject: idOf(person.userId) });
  const { reason } = await db
    .selectFrom("audit_reasons")
    .selectAll()
    .where("event_id", "=", event?.id ?? "")
    .executeTakeFirstOrThrow();
  expect(reason).toBe("They asked by mail");
});

test("the team's checks of a person have a limit of their own: neither uses up the other's", async () => {
  const [person, admin] = [await world.person(), await world.person()];
  await world.database.db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.userId).execute();
  const byTeam = () => world.post(`/api/admin/people/${person.userId}/check-payments`, admin, { reason: "They asked by mail" });
  for (let checks = 0; checks < 12; checks += 1) expect((await byTeam()).json()).toEqual(right);
  const refused = await byTeam();
  expect(refused.json()).toMatchObject({ status: 429, code: "rate_limited" });
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(3_000);
  expect(refused.headers["ratelimit-policy"]).toContain('"team-payment-checks";q=12;w=3600');
  for (let checks = 0; checks < 6; checks += 1) expect(await check(person)).toEqual(right);
  expect((await world.post(path, person)).json().code).toBe("rate_limited");
  // An hour later both may again. The log itself can't be changed, so its events are moved by their owner.
  await world.database.asOwner(
    "alter table audit_events disable trigger user",
    "update audit_events set at = at - interval '61 minutes' where action = 'payments.checked'",
    "alter table audit_events enable trigger user",
  );
  expect((await byTeam()).json()).toEqual(right);
});

test("says that it is not complete while Stripe is silent or fails", async () => {
  const person = await world.person();
  await world.buy(person);
  await world.settle();
  world.setApiFaults([{ kind: "server_error", path: "/v1/", count: 30 }]);
  expect(await check(person)).toEqual({ complete: false, items: [] });
  world.setApiFaults([]);
  expect(await check(person)).toEqual(right);
});
