/**
 * Damages that are planted into the books, and the checks that find them: each is repaired where that is safe, written down once, and
 * otherwise left to a person.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { addMilliseconds, dayMs, hourMs, minuteMs } from "#domain/clock.ts";
import type { Checker } from "#domain/findings.ts";
import { findingKinds } from "#domain/findings.ts";
import { findPayer } from "#server/db/payer.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { resolveSettled, selectAccount } from "#server/features/billing/check-queries.ts";
import { examineAccount } from "#server/features/billing/examine-account.ts";
import {
  askForFullCheck,
  checkNextSlice,
  continueFullCheck,
  countFailedChecks,
  readFullCheck,
} from "#server/features/billing/full-check.ts";
import { payBack } from "#server/features/billing/pay-back.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { holdForSeveral } from "#server/features/credits/holds.ts";
import { clawBack, findDisagreements, postGrant } from "#server/features/credits/service.ts";
import { closeFinding, recordFinding } from "#server/features/findings/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";
import { loseGrant as loseGrantOf } from "../support/damages.ts";
import { compileCache } from "../support/sources.ts";

let world: BillingWorld;
let owner: pg.Client;

beforeAll(async () => {
  world = await startBillingWorld();
  owner = new pg.Client({ connectionString: world.database.ownerUrl });
  await owner.connect();
});
afterEach(() => world.endPlans());
afterAll(async () => {
  await owner.end();
  await world.close();
});
beforeEach(() => owner.query("truncate findings"));

const payerOf = async ({ userId }: Person) => (await findPayer(world.database.db, userId)) ?? "";
/** The largest id before this one. */
const idBefore = (id: string) => uuidOf(BigInt(`0x${id.replaceAll("-", "")}`) - 1n);
const uuidOf = (value: bigint) =>
  value
    .toString(16)
    .padStart(32, "0")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
const findings = () => world.database.db.selectFrom("findings").selectAll().orderBy("id").execute();

async function examine(person: Person, by: Checker = "full") {
  const account = await selectAccount(world.database.db, await payerOf(person));
  if (!account) throw new Error("no account");
  return examineAccount({ deps: world.deps, by }, account);
}

async function subscriber(priceId = "starter_month"): Promise<Person> {
  const person = await world.person();
  await world.buy(person, priceId);
  await world.settle();
  return person;
}

async function grantsOf(person: Person) {
  return world.database.db
    .selectFrom("grants")
    .innerJoin("wallets", "wallets.id", "grants.wallet_id")
    .selectAll("grants")
    .where("billing_account_id", "=", await payerOf(person))
    .orderBy("grants.id")
    .execute();
}

const loseGrant = (grantId: string) => loseGrantOf(world.database, grantId);

/** Posts the person's first grant again under another key, as a mistake in our code would; of a year's month also without saying which. */
async function double(person: Person, saysMonth = true, otherKey?: string): Promise<string> {
  const [grant] = await grantsOf(person);
  if (!grant) throw new Error("no grant");
  const { kind, credits, expires_at: expiresAt, invoice_id: invoiceId, invoice_line_id: invoiceLineId, charge_id: chargeId } = grant;
  const invoiceMonth = saysMonth ? grant.invoice_month : null;
  const payerId = await payerOf(person);
  const key = otherKey ?? `again:${grant.source_key}`;
  const { grantId } = await inTransaction(world.deps.db, (trx) =>
    postGrant(
      trx,
      { payerId, kind, credits, expiresAt, key, source: { invoiceId, invoiceLineId, invoiceMonth, chargeId } },
      world.clock.now(),
    ),
  );
  return grantId;
}

/** Takes back all of a grant that was posted twice, under a key that no check uses. */
async function takeDoubled(grantId: string): Promise<void> {
  const taken = { grantId, inAll: 300, reason: "duplicate", key: `taken by hand:${grantId}` } as const;
  await inTransaction(world.deps.db, (trx) => clawBack(trx, taken, world.clock.now()));
}

async function hold(person: Person, credits: number): Promise<string> {
  const holdId = randomUUID();
  const now = world.clock.now();
  await inTransaction(world.deps.db, (trx) =>
    holdForSeveral(trx, { holdId, userId: person.userId, credits, kinds: ["plan"], holdMs: hourMs, now }),
  );
  return holdId;
}

const repaired = (kind: string, by: Checker, more = {}) => expect.objectContaining({ kind, resolved_by: by, times_seen: 1, ...more });

describe("the hourly check", () => {
  test("takes events that were lost, and writes each down once, with whose it is", async () => {
    const person = await world.person();
    await world.buy(person);
    await world.takeEvents();
    world.clock.moveTo(addMilliseconds(world.clock.now(), 5 * minuteMs));
    await reconcileBilling(world.deps);
    expect(await stateOf(world, person.userId)).toMatchObject({ subscription: { status: "active" }, wallet: { balance: 300 } });
    const found = await findings();
    expect(found).toContainEqual(
      repaired("lost_event", "hourly", {
        billing_account_id: await payerOf(person),
        details: expect.objectContaining({ type: "invoice.paid" }),
      }),
    );
    await reconcileBilling(world.deps);
    expect(await findings()).toEqual(found);
  });

  test("processes an event whose job is lost, and leaves it open as long as it can't", async () => {
    const person = await subscriber();
    const { stripe_subscription_id: subscription } = await world.database.db
      .selectFrom("user_subscriptions")
      .select("stripe_subscription_id")
      .where("user_id", "=", person.userId)
      .executeTakeFirstOrThrow();
    await world.deps.payments.subscriptions.cancel(subscription);
    const event = (await world.takeEvents()).find(({ type }) => type === "customer.subscription.deleted");
    if (!event) throw new Error("no event");
    const received = { status: "received", processed_at: null, received_at: addMilliseconds(new Date(), -hourMs) } as const;
    await world.database.db
      .insertInto("stripe_events")
      .values({ id: event.id, type: event.type, livemode: false, object_id: subscription, payload: "{}", ...received })
      .execute();
    world.setApiFaults([{ kind: "server_error", method: "GET", path: `/v1/subscriptions/${subscription}`, count: 3 }]);
    await reconcileBilling(world.deps);
    expect(await findings()).toMatchObject([{ kind: "stuck_event", subject: event.id, times_seen: 1, resolved_at: null }]);
    expect((await stateOf(world, person.userId)).subscription.status).toBe("active");
    await reconcileBilling(world.deps);
    expect(await findings()).toMatchObject([{ subject: event.id, times_seen: 2, resolved_by: "hourly" }]);
    expect((await stateOf(world, person.userId)).subscription.status).toBe("canceled");
  });

  test("releases a hold that the sweep has left", async () => {
    const person = await subscriber();
    const holdId = await hold(person, 40);
    await owner.query("update holds set deadline = now() - interval '5 minutes' where id = $1", [holdId]);
    await reconcileBilling(world.deps);
    expect((await stateOf(world, person.userId)).wallet?.held, "the sweep may still come").toBe(40);
    await owner.query("update holds set deadline = now() - interval '1 hour' where id = $1", [holdId]);
    await reconcileBilling(world.deps);
    expect((await stateOf(world, person.userId)).wallet).toEqual({ balance: 300, held: 0 });
    expect(await findings()).toEqual([repaired("stale_hold", "hourly", { subject: holdId, details: { credits: 40 } })]);
  });

  test("gives the credits of a recorded payment that has none, under the key they should have had", async () => {
    const person = await subscriber();
    const [grant] = await grantsOf(person);
    await loseGrant(grant?.id ?? "");
    expect((await stateOf(world, person.userId)).wallet?.balance).toBe(0);
    await reconcileBilling(world.deps);
    expect(await grantsOf(person)).toMatchObject([{ source_key: grant?.source_key, credits: 300, remaining: 300 }]);
    expect(await findings()).toEqual([repaired("missing_grant", "hourly", { subject: grant?.invoice_id })]);
    await reconcileBilling(world.deps);
    expect(await grantsOf(person)).toHaveLength(1);
  });

  test("tries a payment again that it could not repair, however long ago it was paid", async () => {
    const person = await subscriber();
    const [grant] = await grantsOf(person);
    await loseGrant(grant?.id ?? "");
    world.setApiFaults([{ kind: "server_error", method: "GET", path: `/v1/charges/${grant?.charge_id}`, count: 3 }]);
    await reconcileBilling(world.deps);
    expect(await findings()).toMatchObject([{ kind: "missing_grant", subject: grant?.invoice_id, resolved_at: null }]);
    world.clock.moveTo(addMilliseconds(world.clock.now(), 12 * dayMs));
    // With newer events the run does not look back that far.
    await subscriber();
    await reconcileBilling(world.deps);
    expect(await findings()).toMatchObject([{ kind: "missing_grant", subject: grant?.invoice_id, resolved_by: "hourly" }]);
    expect(await grantsOf(person)).toMatchObject([{ source_key: grant?.source_key, remaining: 300 }]);
  });

  test("leaves a payment open of which only one line has its credits", async () => {
    const person = await subscriber();
    const [grant] = await grantsOf(person);
    const invoiceId = grant?.invoice_id ?? "";
    await owner.query(
      `insert into paid_invoice_lines select (jsonb_populate_record(l, '{"id": "il_second"}')).* from paid_invoice_lines l where invoice_id = $1`,
      [invoiceId],
    );
    const finding = { kind: "missing_grant", subject: invoiceId, payerId: await payerOf(person), details: {} } as const;
    await recordFinding(world.deps.db, finding, null, world.clock.now());
    await resolveSettled(world.deps.db, world.clock.now());
    expect(await findings()).toMatchObject([{ kind: "missing_grant", resolved_at: null }]);
    await owner.query("delete from paid_invoice_lines where id = 'il_second'");
    await resolveSettled(world.deps.db, world.clock.now());
    expect(await findings()).toMatchObject([{ kind: "missing_grant", resolved_by: "itself" }]);
  });

  test("tells of money that was asked back and does not go back; the plan has ended all the same, so that nobody pays for it again", async () => {
    const person = await subscriber();
    expect((await world.post("/api/billing/money-back", person)).statusCode).toBe(202);
    const { id } = await world.database.db
      .selectFrom("money_backs")
      .select("id")
      .where("billing_account_id", "=", await payerOf(person))
      .executeTakeFirstOrThrow();
    world.setApiFaults([{ kind: "server_error", method: "POST", path: "/v1/refunds", count: 3 }]);
    await expect(payBack(world.deps, id)).rejects.toThrow();
    await world.settle();
    expect((await stateOf(world, person.userId)).subscription.status).toBe("canceled");
    await reconcileBilling(world.deps);
    expect(await findings()).toEqual([]);
    world.clock.moveTo(addMilliseconds(world.clock.now(), hourMs + minuteMs));
    await reconcileBilling(world.deps);
    expect(await findings()).toMatchObject([{ kind: "unpaid_return", subject: id, resolved_at: null, details: { amountCents: 1999 } }]);
    await payBack(world.deps, id);
    await world.settle();
    await reconcileBilling(world.deps);
    expect(await findings()).toMatchObject([{ kind: "unpaid_return", resolved_by: "itself" }]);
  });
});

describe("the check of an account", () => {
  test("finds nothing in an account that is in order, monthly, annual, with packs and after a year", async () => {
    const monthly = await subscriber();
    const opened = await world.post("/api/billing/packs/checkout", monthly, { pack: "pack_250", consent: consentTo("pack_250") });
    await world.pay(opened.json<{ url: string }>().url);
    await world.settle();
    const annual = await subscriber("basic_year");
    await world.moveTo(addMilliseconds(world.clock.now(), 70 * dayMs));
    expect(await examine(monthly)).toEqual([]);
    expect(await examine(annual)).toEqual([]);
    expect(await findings()).toEqual([]);
  });

  test("resolves what is in order by now of this account, and leaves the findings of all others to the hourly check", async () => {
    const [person, other] = [await subscriber(), await subscriber()];
    for (const somebody of [person, other]) {
      const subject = (await grantsOf(somebody))[0]?.invoice_id ?? "";
      const finding = { kind: "unrecorded_payment", subject, payerId: await payerOf(somebody), details: {} } as const;
      await recordFinding(world.deps.db, finding, null, world.clock.now());
    }
    await examine(person);
    expect(await findings()).toMatchObject([{ resolved_by: "itself" }, { resolved_at: null }]);
    await reconcileBilling(world.deps);
    expect(await findings()).toMatchObject([{ resolved_by: "itself" }, { resolved_by: "itself" }]);
  });

  test("gives a paid pack's credits if every event was lost", async () => {
    const person = await subscriber();
    const opened = await world.post("/api/billing/packs/checkout", person, { pack: "pack_250", consent: consentTo("pack_250") });
    await world.pay(opened.json<{ url: string }>().url);
    await world.takeEvents();
    expect(await examine(person)).toMatchObject([
      { kind: "unrecorded_payment", isRepaired: true, details: { amountCents: 1799, credits: 250 } },
    ]);
    expect((await grantsOf(person)).map(({ kind, credits }) => [kind, credits])).toEqual([
      ["plan", 300],
      ["pack", 250],
    ]);
    expect(await examine(person)).toEqual([]);
  });

  test("gives a pack's credits if its payment is recorded and they are lost", async () => {
    const person = await subscriber();
    const opened = await world.post("/api/billing/packs/checkout", person, { pack: "pack_100", consent: consentTo("pack_100") });
    await world.pay(opened.json<{ url: string }>().url);
    await world.settle();
    const pack = (await grantsOf(person)).find(({ kind }) => kind === "pack");
    await loseGrant(pack?.id ?? "");
    expect(await examine(person)).toMatchObject([{ kind: "missing_grant", subject: pack?.invoice_id, isRepaired: true }]);
    expect((await grantsOf(person)).find(({ kind }) => kind === "pack")).toMatchObject({ source_key: pack?.source_key, remaining: 100 });
  });

  test("leaves credits of a month that is over, and of a refunded payment, to a person", async () => {
    const late = await subscriber();
    const [old] = await grantsOf(late);
    await world.moveTo(addMilliseconds(world.clock.now(), 35 * dayMs));
    await loseGrant(old?.id ?? "");
    expect(await examine(late)).toMatchObject([{ kind: "missing_grant", subject: old?.invoice_id, isRepaired: false }]);

    const refunded = await subscriber();
    const [grant] = await grantsOf(refunded);
    await loseGrant(grant?.id ?? "");
    await world.deps.payments.refunds.create({ charge: grant?.charge_id ?? "", amount: 500 });
    await world.settle();
    expect(await examine(refunded)).toMatchObject([{ kind: "missing_grant", isRepaired: false }]);
    expect(await grantsOf(refunded)).toEqual([]);
    expect(await findings()).toMatchObject([{ resolved_at: null }, { resolved_at: null }]);
  });

  test("takes back a grant that was posted twice", async () => {
    for (const [priceId, saysMonth] of [["starter_month"], ["starter_year", true], ["starter_year", false]] as const) {
      const person = await subscriber(priceId);
      const doubled = await double(person, saysMonth);
      expect(await examine(person)).toMatchObject([{ kind: "doubled_grant", subject: doubled, isRepaired: true }]);
      expect((await stateOf(world, person.userId)).wallet?.balance).toBe(300);
      expect(await examine(person)).toEqual([]);
    }
    expect(await findings()).toEqual(Array.from({ length: 3 }, () => repaired("doubled_grant", "full")));
    expect(await findDisagreements(world.database.db)).toEqual([]);
  });

  test("of two grants for one thing leaves the one that was posted first, whatever their keys are", async () => {
    const person = await subscriber();
    const [grant] = await grantsOf(person);
    const first = await double(person);
    await loseGrant(grant?.id ?? "");
    const second = await double(person, true, grant?.source_key);
    expect(await examine(person)).toMatchObject([{ kind: "doubled_grant", subject: second, isRepaired: true }]);
    expect(await grantsOf(person)).toMatchObject([
      { id: first, remaining: 300 },
      { id: second, remaining: 0 },
    ]);
    expect(await examine(person)).toEqual([]);
  });

  test("leaves what is left of two grants for one thing after the first of them was taken back", async () => {
    const person = await subscriber();
    const [grant] = await grantsOf(person);
    await double(person);
    await takeDoubled(grant?.id ?? "");
    expect(await examine(person)).toEqual([]);
    expect((await stateOf(world, person.userId)).wallet?.balance).toBe(300);
  });

  test.each(["by the check", "under another key"])(
    "takes a partial refund's share of the grant that stays, and not of the one that was taken back %s",
    async (how) => {
      const person = await subscriber();
      const [grant] = await grantsOf(person);
      const doubled = await double(person);
      if (how === "under another key") await takeDoubled(doubled);
      else expect(await examine(person)).toMatchObject([{ kind: "doubled_grant", subject: doubled, isRepaired: true }]);
      await world.deps.payments.refunds.create({ charge: grant?.charge_id ?? "", amount: 1000 });
      await world.settle();
      expect((await stateOf(world, person.userId)).wallet?.balance).toBe(150);
      expect(await findDisagreements(world.database.db)).toEqual([]);
    },
  );

  test("leaves a doubled grant to a person if some of it is held, counts it, and stays quiet once it is closed", async () => {
    const person = await subscriber();
    const doubled = await double(person);
    await hold(person, 301);
    expect(await examine(person)).toMatchObject([{ kind: "doubled_grant", subject: doubled, isRepaired: false }]);
    expect(await examine(person)).toHaveLength(1);
    const [open] = await findings();
    expect(open).toMatchObject({ times_seen: 2, resolved_at: null });
    expect(await closeFinding(world.database.db, open?.id ?? "", world.clock.now())).toBe(true);
    expect(await closeFinding(world.database.db, open?.id ?? "", world.clock.now())).toBe(false);
    await examine(person);
    expect(await findings()).toMatchObject([{ times_seen: 3, resolved_by: "person" }]);
    expect((await stateOf(world, person.userId)).wallet?.balance).toBe(600);
  });

  test("corrects our copy of a subscription", async () => {
    const person = await subscriber();
    const before = (await stateOf(world, person.userId)).subscription;
    await world.database.db
      .updateTable("user_subscriptions")
      .set({ plan_key: "enterprise", status: "canceled", ended_at: world.clock.now() })
      .where("user_id", "=", person.userId)
      .execute();
    expect(await examine(person)).toMatchObject([{ kind: "wrong_subscription", isRepaired: true }]);
    expect((await stateOf(world, person.userId)).subscription).toEqual(before);
    expect(await findings()).toEqual([repaired("wrong_subscription", "full", { billing_account_id: await payerOf(person) })]);
  });
});

describe("money that went back", () => {
  test("takes the credits of a refund whose every event was lost, once", async () => {
    const person = await subscriber();
    const [grant] = await grantsOf(person);
    const chargeId = grant?.charge_id ?? "";
    await world.deps.payments.refunds.create({ charge: chargeId });
    await world.takeEvents();
    expect((await stateOf(world, person.userId)).wallet?.balance).toBe(300);
    const found = await examine(person);
    expect(found).toContainEqual(expect.objectContaining({ kind: "unbooked_return", subject: chargeId, isRepaired: true }));
    expect((await stateOf(world, person.userId)).wallet?.balance).toBe(0);
    expect(await findings()).toContainEqual(repaired("unbooked_return", "full", { subject: chargeId }));
    expect(await examine(person)).toEqual([]);
  });
});

describe("the full check", () => {
  test("checks every account, goes on where it was interrupted, and asked for twice is one", async () => {
    const people = [await subscriber(), await subscriber(), await subscriber()];
    for (const person of people) await double(person);
    const { db } = world.database;
    await askForFullCheck(db, world.clock.now());
    expect(await continueFullCheck(world.deps, AbortSignal.abort()).catch((error: Error) => error.name)).toBe("AbortError");
    const interrupted = new AbortController();
    const stopAfterOne = setInterval(async () => {
      if ((await readFullCheck(db)).accounts > 0) interrupted.abort();
    }, 1);
    await continueFullCheck(world.deps, interrupted.signal).catch(() => {});
    clearInterval(stopAfterOne);
    const halfway = await readFullCheck(db);
    expect(halfway).toMatchObject({ done_at: null });
    await askForFullCheck(db, world.clock.now());
    expect(await readFullCheck(db)).toEqual(halfway);
    while (!(await continueFullCheck(world.deps)));
    const accounts = await db
      .selectFrom("billing_accounts")
      .select((e) => e.fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    expect(await readFullCheck(db)).toMatchObject({ accounts: Number(accounts.count), done_at: expect.any(Date) });
    for (const person of people) expect((await stateOf(world, person.userId)).wallet?.balance).toBe(300);
    const payers = await Promise.all(people.map(payerOf));
    const theirs = (await findings()).filter((finding) => payers.includes(finding.billing_account_id ?? ""));
    expect(theirs.map(({ kind, resolved_by }) => [kind, resolved_by])).toEqual(people.map(() => ["doubled_grant", "full"]));
  });
});

test("the hourly slice finds what no event leads to, goes round over all accounts, and comes once an hour", async () => {
  const { db, asOwner } = world.database;
  const late = await subscriber();
  const count = db
    .selectFrom("billing_accounts")
    .select((e) => e.fn.countAll<number>().as("count"))
    .where("stripe_customer_id", "is not", null);
  const customers = Number((await count.executeTakeFirstOrThrow()).count);
  await db.updateTable("user_subscriptions").set({ plan_key: "basic" }).where("user_id", "=", late.userId).execute();
  const hourLater = () => asOwner("update full_checks set sliced_at = sliced_at - interval '1 hour'");
  await asOwner("update full_checks set sliced_at = null, round_reached = default");
  let compared = 0;
  for (let hour = 0; compared < customers; hour += 1) {
    expect(hour).toBeLessThan(100);
    const slice = await checkNextSlice(world.deps, undefined, 5);
    expect(slice).toBeGreaterThan(0);
    expect(slice).toBeLessThanOrEqual(5);
    compared += slice;
    expect(await checkNextSlice(world.deps)).toBe(0);
    await hourLater();
  }
  expect(compared).toBe(customers);
  const payer = await payerOf(late);
  const theirs = (await findings()).filter((finding) => finding.billing_account_id === payer);
  expect(theirs.map(({ kind, resolved_by }) => [kind, resolved_by])).toEqual([["wrong_subscription", "hourly"]]);
  // The round begins anew.
  while ((await checkNextSlice(world.deps, undefined, 5)) === 0) await hourLater();
});

describe("accounts that can't be checked hold nobody", () => {
  let people: Person[];
  let payers: string[];

  beforeAll(async () => {
    people = [];
    for (let count = 0; count < 4; count += 1) people.push(await subscriber());
    payers = await Promise.all(people.map(payerOf));
    await world.database.asOwner(
      "create table failing (user_id uuid)",
      // The class of "insufficient resources", which every other part takes for an outage.
      `create function fail() returns trigger language plpgsql security definer as
        'begin if new.user_id in (select user_id from failing) then raise ''away'' using errcode = ''53000''; end if; return new; end'`,
      "create trigger failing before update on user_subscriptions for each row execute function fail()",
    );
  });
  beforeEach(async () => {
    await world.database.asOwner(
      "delete from failing",
      `update user_subscriptions set plan_key = 'basic' where user_id = any ('{${people.map(({ userId }) => userId)}}')`,
      `update full_checks set sliced_at = null, asked_at = now(), done_at = null, accounts = 0,
        round_reached = '${idBefore(payers[0] ?? "")}', reached = '${idBefore(payers[0] ?? "")}'`,
    );
  });
  afterAll(() => world.database.asOwner("drop trigger failing on user_subscriptions", "delete from sweep_failures"));

  const failFor = (...failing: number[]) =>
    world.database.asOwner("delete from failing", ...failing.map((index) => `insert into failing values ('${people[index]?.userId}')`));
  const hourLater = () =>
    world.database.asOwner(
      "update full_checks set sliced_at = sliced_at - interval '1 hour'",
      "update sweep_failures set retry_at = retry_at - interval '1 hour'",
    );
  const repairedOf = async () =>
    (await findings()).filter(({ resolved_by: by }) => by !== null).map((finding) => payers.indexOf(finding.billing_account_id ?? ""));
  const failures = () => world.database.db.selectFrom("sweep_failures").select("subject").orderBy("subject").execute();

  test("one is passed over by the slice, and tried again after the others", async () => {
    await failFor(0);
    expect(await checkNextSlice(world.deps)).toBe(4);
    expect(await repairedOf()).toEqual([1, 2, 3]);
    await failFor();
    await hourLater();
    await checkNextSlice(world.deps);
    expect(await repairedOf()).toEqual([1, 2, 3, 0]);
    expect(await failures()).toEqual([]);
  });

  test("two in a row look like an outage: the slice ends, and the next one goes on behind them", async () => {
    await failFor(0, 1);
    await expect(checkNextSlice(world.deps)).rejects.toThrow("away");
    await hourLater();
    await expect(checkNextSlice(world.deps)).rejects.toThrow("away");
    expect(await repairedOf()).toEqual([2, 3]);
    await failFor();
    await hourLater();
    await checkNextSlice(world.deps);
    expect(await repairedOf()).toEqual([2, 3, 0, 1]);
    expect(await failures()).toEqual([]);
  });

  test("the full check ends without them and says how many", async () => {
    await failFor(1, 2);
    await expect(continueFullCheck(world.deps)).rejects.toThrow("away");
    expect(await continueFullCheck(world.deps)).toBe(true);
    expect(await repairedOf()).toEqual([0, 3]);
    expect(await failures()).toEqual([payers[1], payers[2]].map((subject) => ({ subject })));
    expect(await countFailedChecks(world.database.db)).toBe(2);
  });
});

describe("the command", () => {
  async function command(...values: string[]): Promise<{ code: number | null; said: string }> {
    const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, DATABASE_URL: world.deps.config.databaseUrl };
    const child = spawn(process.execPath, ["server/commands/reconcile.ts", ...values], { env });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return { code, said };
  }

  test("asks for the full check and waits for it, lists what is left with what to do, and closes it", async () => {
    const person = await subscriber();
    const doubled = await double(person);
    await hold(person, 301);
    await world.database.asOwner(
      "insert into sweep_failures values ('account-checks', gen_random_uuid(), 1, now() + interval '1 hour', 'it fails')",
    );
    const asked = command("--full");
    await expect.poll(async () => (await readFullCheck(world.database.db)).done_at, { timeout: 30_000 }).toBeNull();
    while (!(await continueFullCheck(world.deps)));
    const { code, said } = await asked;
    expect(code).toBe(1);
    expect(said).toMatch(/every account was checked: \d+\n1 of them could not be checked/);
    expect(said).toContain(`doubled_grant ${doubled}`);
    expect(said).toContain(findingKinds.doubled_grant.toDo);
    for (const { id } of (await findings()).filter(({ resolved_at }) => resolved_at === null))
      expect(await command("--close", id)).toEqual({ code: 0, said: `${id} is closed\n` });
    expect(await command()).toEqual({ code: 0, said: "nothing is open\n" });
    expect((await command("--close", randomUUID())).code).toBe(1);
  });
});
