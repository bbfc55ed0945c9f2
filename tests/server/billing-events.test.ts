/** Events that wait about one object are one reading of it; what no code acts on is set aside and can be put back to work. */
import { randomUUID } from "node:crypto";
import type Stripe from "stripe";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addMilliseconds, hourMs } from "#domain/clock.ts";
import { processStripeEvent } from "#server/features/billing/process-event.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { createPayments } from "#server/providers/stripe.ts";
import { replaySetAsideEvents } from "#server/queue/replay.ts";
import { discardEvents, replayEvents } from "#server/queue/settle-events.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import { deliver } from "../support/billing-world.ts";
import type { HttpProxy, PassOn } from "../support/http-proxy.ts";
import { startHttpProxy } from "../support/http-proxy.ts";
import { seededRandom } from "../support/ledger-model.ts";
import { plantTrigger } from "../support/planted-bugs.ts";

let world: BillingWorld;
let proxy: HttpProxy;
let asked: string[] = [];
const plain: PassOn = (_request, answer) => answer;
let passOn = plain;

beforeAll(async () => {
  world = await startBillingWorld();
  proxy = await startHttpProxy(world.sandboxUrl, (request, answer) => {
    asked.push(`${request.method} ${request.path}`);
    return passOn(request, answer);
  });
});
afterAll(async () => {
  await proxy.close();
  await world.close();
});

const watched = () => ({ ...world.deps, payments: createPayments({ ...world.deps.config.stripe, apiUrl: proxy.url }) });
const process = (id: string) => processStripeEvent(watched(), id);
const twinsOf = (event: Stripe.Event, count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...event, id: `${event.id}_${index}` }));
const deliverAll = (events: readonly Stripe.Event[]) => Promise.all(events.map((event) => deliver(world, JSON.stringify(event))));
const statusOf = async (id: string) =>
  (await world.database.db.selectFrom("stripe_events").select("status").where("id", "=", id).executeTakeFirst())?.status;
const statusesOf = (events: readonly { id: string }[]) => Promise.all(events.map(({ id }) => statusOf(id)));

async function purchase(): Promise<{ userId: string; paid: Stripe.Event }> {
  const person = await world.person();
  await world.takeEvents();
  await world.buy(person);
  const paid = (await world.takeEvents()).find((event) => event.type === "invoice.paid");
  if (!paid) throw new Error("no invoice was paid");
  return { userId: person.userId, paid };
}

async function expectOneReading(): Promise<void> {
  const { userId, paid } = await purchase();
  const twins = twinsOf(paid, 10);
  await deliverAll(twins);
  asked = [];
  for (const { id } of twins) await process(id);
  expect(asked.filter((call) => call.startsWith("GET /v1/invoices/"))).toHaveLength(1);
  expect(await statusesOf(twins)).toEqual(twins.map(() => "processed"));
  expect((await stateOf(world, userId)).grants).toHaveLength(1);
}

describe("waiting events of one object", () => {
  test("are one reading: the first settles all of them, and the others ask Stripe nothing", expectOneReading);

  test("which is noticed: a planted bug lets each take itself alone", async () => {
    const alone = "if new.taken_by is distinct from new.id then return null; end if; return new;";
    const repair = await plantTrigger(world.database, "before update of taken_by", "stripe_events", alone);
    await expect(expectOneReading()).rejects.toMatchObject({ name: "AssertionError" });
    await repair();
  });

  test("don't include one that comes while the object is being read: it is read again for that one", async () => {
    const { paid } = await purchase();
    const [early, late] = twinsOf(paid, 2);
    if (!early || !late) throw new Error("two twins");
    await deliverAll([early]);
    let delivered = false;
    passOn = async (_request, answer) => {
      if (!delivered) await deliverAll([late]);
      delivered = true;
      return answer;
    };
    await process(early.id);
    passOn = plain;
    expect(await statusesOf([early, late])).toEqual(["processed", "received"]);
    asked = [];
    await process(late.id);
    expect([await statusOf(late.id), asked.length > 0]).toEqual(["processed", true]);
  });

  test("whose job fails are settled by its next try, or by reconciliation, and by nobody twice", async () => {
    for (const byReconciliation of [false, true]) {
      const { userId, paid } = await purchase();
      const [first, second] = twinsOf(paid, 2);
      if (!first || !second) throw new Error("two twins");
      await deliverAll([first, second]);
      passOn = () => undefined;
      await expect(process(first.id)).rejects.toThrow();
      passOn = plain;
      asked = [];
      await process(second.id);
      expect([asked, await statusesOf([first, second])]).toEqual([[], ["received", "received"]]);
      if (byReconciliation) {
        const longAgo = addMilliseconds(new Date(), -hourMs);
        await world.database.asOwner(`update stripe_events set received_at = '${longAgo.toISOString()}' where status = 'received'`);
        await reconcileBilling(world.deps);
      } else await process(first.id);
      expect(await statusesOf([first, second])).toEqual(["processed", "processed"]);
      expect((await stateOf(world, userId)).grants).toHaveLength(1);
    }
  });

  test("processed all at once, in any order and with copies, give one final state (seeded)", async () => {
    const random = seededRandom(11);
    for (let life = 0; life < 8; life += 1) {
      const person = await world.person();
      await world.takeEvents();
      await world.buy(person);
      const events = await world.takeEvents();
      const copies = events.flatMap((event) => [event, ...twinsOf(event, 2)]);
      const keyed = copies.map((event) => ({ event, key: random(1_000_000) })).sort((left, right) => left.key - right.key);
      await deliverAll(keyed.map(({ event }) => event));
      // Four at a time, as a worker's slots.
      const line = keyed.map(({ event }) => event.id);
      const slot = async () => {
        for (let id = line.shift(); id !== undefined; id = line.shift()) await processStripeEvent(world.deps, id);
      };
      await Promise.all([slot(), slot(), slot(), slot()]);
      expect(await statusesOf(copies)).not.toContain("received");
      const state = await stateOf(world, person.userId);
      expect([state.subscription.status, state.wallet?.balance, state.grants.length]).toEqual(["active", 300, 1]);
    }
  });
});

describe("an event that somebody of the team has discarded", () => {
  test("is never acted on: not by a job that waits, nor if Stripe sends it again, nor by reconciliation, which finds the payment all the same", async () => {
    const { userId, paid } = await purchase();
    const by = { userId, network: "203.0.113.0/24", reason: "Looked at it" };
    await deliver(world, JSON.stringify(paid));
    await world.database.db.updateTable("stripe_events").set({ status: "set_aside" }).where("id", "=", paid.id).execute();
    expect(await discardEvents(world.deps.db, [paid.id], by)).toEqual([{ id: paid.id, outcome: "done" }]);
    asked = [];
    await process(paid.id);
    await deliver(world, JSON.stringify(paid));
    await process(paid.id);
    expect([asked, await statusOf(paid.id), (await stateOf(world, userId)).grants]).toEqual([[], "discarded", []]);
    await world.database.asOwner("update stripe_events set received_at = received_at - interval '1 hour'");
    await reconcileBilling(world.deps);
    expect([await statusOf(paid.id), (await stateOf(world, userId)).grants.length]).toEqual(["discarded", 1]);
    // Put back, it is acted on, and changes nothing any more.
    expect(await replayEvents(world.deps.db, [paid.id], by)).toEqual([{ id: paid.id, outcome: "done" }]);
    await process(paid.id);
    expect([await statusOf(paid.id), (await stateOf(world, userId)).grants.length]).toEqual(["processed", 1]);
  });

  test("was not being acted on at that moment: whoever tries it then is refused", async () => {
    const { userId, paid } = await purchase();
    const by = { userId, network: "203.0.113.0/24", reason: "Looked at it" };
    await deliver(world, JSON.stringify(paid));
    // The letter of an earlier try; reconciliation tries it once more.
    const letter = {
      id: randomUUID(),
      job: "process-stripe-event",
      payload: JSON.stringify({ eventId: paid.id }),
      error: "",
      attempts: 10,
    };
    await world.database.db
      .insertInto("dead_letters")
      .values({ ...letter, replayed_at: null })
      .execute();
    let outcome: unknown;
    passOn = async (_request, answer) => {
      outcome ??= (await discardEvents(world.deps.db, [paid.id], by))[0]?.outcome;
      return answer;
    };
    await process(paid.id);
    passOn = plain;
    expect([outcome, await statusOf(paid.id), (await stateOf(world, userId)).grants.length]).toEqual(["busy", "processed", 1]);
    expect(await discardEvents(world.deps.db, [paid.id], by)).toEqual([{ id: paid.id, outcome: "settled" }]);
  });
});

describe("an event that no code acts on", () => {
  test("is set aside, and is acted on when it is put back to work after the code has come", async () => {
    const { userId, paid } = await purchase();
    const unheard = { ...paid, id: `evt_${randomUUID()}`, type: "payout.paid" };
    await deliver(world, JSON.stringify(unheard));
    await process(unheard.id);
    expect(await statusOf(unheard.id)).toBe("set_aside");
    expect(await replaySetAsideEvents(world.deps.db, "payout.paid")).toBe(1);
    expect(await statusOf(unheard.id)).toBe("received");
    await process(unheard.id);
    expect(await statusOf(unheard.id)).toBe("set_aside");

    // A release that did not know the type left the event like this.
    await deliver(world, JSON.stringify(paid));
    await world.database.db.updateTable("stripe_events").set({ status: "set_aside" }).where("id", "=", paid.id).execute();
    await world.database.db.deleteFrom("outbox").execute();
    expect(await replaySetAsideEvents(world.deps.db, "invoice.paid")).toBe(1);
    expect(await world.database.db.selectFrom("outbox").select(["job", "payload"]).execute()).toEqual([
      { job: "process-stripe-event", payload: { eventId: paid.id } },
    ]);
    await process(paid.id);
    expect(await statusOf(paid.id)).toBe("processed");
    expect((await stateOf(world, userId)).grants).toHaveLength(1);
  });

  test("as a checkout that sells no subscription, is set aside: what was paid is not forgotten", async () => {
    const person = await world.person();
    await world.takeEvents();
    await world.buy(person);
    const completed = (await world.takeEvents()).find((event) => event.type === "checkout.session.completed");
    await deliver(world, JSON.stringify(completed));
    passOn = (_request, answer) => answer.replaceAll('"mode":"subscription"', '"mode":"payment"');
    await process(completed?.id ?? "");
    passOn = plain;
    expect(await statusOf(completed?.id ?? "")).toBe("set_aside");
    expect((await stateOf(world, person.userId)).grants).toEqual([]);
  });

  test("for its livemode is not acted on when it is put back either", async () => {
    const { userId, paid } = await purchase();
    const live = { ...paid, id: `evt_${randomUUID()}`, livemode: true };
    await deliver(world, JSON.stringify(live));
    expect(await replaySetAsideEvents(world.deps.db, "invoice.paid")).toBe(1);
    asked = [];
    await process(live.id);
    expect([await statusOf(live.id), asked]).toEqual(["set_aside", []]);
    expect((await stateOf(world, userId)).grants).toEqual([]);
  });
});
