/** For whom a campaign is: nobody else sees or gets its discount, and who gets it pays what they saw. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Campaign, NewCampaign } from "#contract/billing/campaigns.ts";
import type { OrderPreview } from "#contract/billing/orders.ts";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { planKeys } from "#domain/plans.ts";
import type { BillingWorld } from "#tests/support/billing-stripe.ts";
import { startBillingWorld } from "#tests/support/billing-stripe.ts";
import type { Person } from "#tests/support/billing-world.ts";
import { consentTo } from "#tests/support/consent.ts";
import { payerIdOf } from "#tests/support/payers.ts";

const percent = 50;
let world: BillingWorld;
let admin: Person;
beforeAll(async () => {
  world = await startBillingWorld({}, new Date("2026-03-10T09:30:00Z"));
  admin = await world.person();
  await world.database.db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.userId).execute();
});
afterAll(() => world.close());
beforeEach(() => world.clock.moveTo(addMilliseconds(world.clock.now(), 60_000)));
afterEach(() => world.database.asOwner("delete from discount_campaigns"));

const day = (days: number) => addMilliseconds(world.clock.now(), days * dayMs).toISOString();
const plan = (changes: Partial<NewCampaign> = {}) =>
  world.post("/api/admin/campaigns", admin, { percent, startsAt: day(0), endsAt: day(90), reason: "To win people back", ...changes });
const winBack = async (changes: Partial<NewCampaign> = {}) =>
  (await plan({ audience: "left", endedDays: 30, ...changes })).json<Campaign>();

/** What the pricing page says off each plan. */
async function seen(who?: Person): Promise<number[]> {
  const { discountEligible, pricing } = (await world.post("/api/functions/check-discount-eligibility", who)).json();
  const off = planKeys.map((key) => pricing[key].discountPercentage);
  expect(discountEligible).toBe(off.some((each) => each > 0));
  return off;
}
const none = [0, 0, 0, 0];
const preview = async (person: Person, priceId: string) =>
  (await world.post("/api/billing/order/preview", person, { priceId })).json<OrderPreview>().amountCents;
/** Orders at the price with this much off, whatever the page would show. */
const order = async (person: Person, priceId: string, off: number) => {
  const response = await world.post("/api/functions/create-checkout", person, { priceId, consent: consentTo(priceId, off) });
  return response.statusCode === 200 ? response.json<{ url: string }>().url : response.json<{ code: string }>().code;
};
async function paid({ userId }: Person): Promise<number[]> {
  const payerId = await payerIdOf(world.database.db, userId);
  const invoices = world.database.db.selectFrom("paid_invoices").select("amount_paid_cents").where("billing_account_id", "=", payerId);
  return (await invoices.orderBy("paid_at").execute()).map(({ amount_paid_cents: cents }) => cents);
}

async function subscriber(): Promise<Person> {
  const person = await world.person();
  await world.buy(person);
  await world.settle();
  return person;
}
async function leave({ userId }: Person): Promise<void> {
  const row = world.database.db.selectFrom("user_subscriptions").select("stripe_subscription_id").where("user_id", "=", userId);
  await world.deps.payments.subscriptions.cancel((await row.executeTakeFirstOrThrow()).stripe_subscription_id);
  await world.settle();
}
/** People who paid and left now; time goes on by `days`, without anything that would happen meanwhile to the others. */
async function leavers(count: number, days: number): Promise<Person[]> {
  const people: Person[] = [];
  for (let each = 0; each < count; each += 1) people.push(await subscriber());
  for (const person of people) await leave(person);
  world.clock.moveTo(addMilliseconds(world.clock.now(), days * dayMs));
  return people;
}

test("people who paid and left see the discount and pay what they saw, once a campaign; nobody else sees or gets it, also by a forged request", async () => {
  const [gone] = (await leavers(1, 29)) as [Person];
  const [recent] = (await leavers(1, 1)) as [Person];
  const [newcomer, runs] = [await world.person(), await subscriber()];
  await winBack({ plans: ["starter", "basic"] });
  expect(await seen(gone)).toEqual([percent, percent, 0, 0]);
  for (const other of [undefined, newcomer, runs, recent]) expect(await seen(other)).toEqual(none);

  for (const other of [newcomer, recent]) {
    expect([await preview(other, "starter_month"), await order(other, "starter_month", percent)]).toEqual([1_999, "preview_outdated"]);
    expect(await order(other, "starter_month", 0)).toMatch(/^http/);
  }
  expect(await order(runs, "basic_month", percent)).toBe("already_subscribed");
  // A plan that the campaign leaves out costs what it always does.
  expect([await preview(gone, "professional_month"), await order(gone, "professional_month", percent)]).toEqual([
    4_999,
    "preview_outdated",
  ]);

  const shown = await preview(gone, "basic_month");
  await world.pay(await order(gone, "basic_month", percent));
  await world.settle();
  expect([shown, await paid(gone)]).toEqual([1_999, [1_999, 1_999]]);
  expect(await seen(gone)).toEqual(none);
  await leave(gone);
  world.clock.moveTo(addMilliseconds(world.clock.now(), 31 * dayMs));
  expect([await seen(gone), await order(gone, "starter_month", percent)]).toEqual([none, "preview_outdated"]);
});

test("a plan that ended so many days ago counts from that very moment on", async () => {
  const [gone] = (await leavers(1, 30)) as [Person];
  await winBack();
  expect(await seen(gone)).toEqual([percent, percent, percent, percent]);
  await world.database.asOwner("update discount_campaigns set ended_days = 31");
  expect(await seen(gone)).toEqual(none);
  world.clock.moveTo(addMilliseconds(world.clock.now(), dayMs - 1));
  expect(await seen(gone)).toEqual(none);
  world.clock.moveTo(addMilliseconds(world.clock.now(), 1));
  expect(await seen(gone)).toEqual([percent, percent, percent, percent]);
});

test("between the page and the order the campaign ends, or the person leaves its audience: nothing is ordered at the old price, nor paid on a page that is open", async () => {
  const [early, twice] = (await leavers(2, 30)) as [Person, Person];
  const { id } = await winBack();
  for (const person of [early, twice]) expect(await preview(person, "starter_month")).toBe(999);
  // Two tabs: what was won back in the one can't be ordered again in the other.
  const other = await order(twice, "basic_month", percent);
  await world.pay(await order(twice, "starter_month", percent));
  await world.settle();
  await expect(world.pay(other)).rejects.toThrow();
  await leave(twice);
  expect(await order(twice, "starter_month", percent)).toBe("preview_outdated");

  const page = await order(early, "starter_month", percent);
  world.clock.moveTo(addMilliseconds(world.clock.now(), 1_000));
  await world.post("/api/admin/campaigns/end", admin, { campaignId: id, reason: "It did its work" });
  expect([await seen(early), await order(early, "starter_month", percent)]).toEqual([none, "preview_outdated"]);
  const full = await order(early, "starter_month", 0);
  await expect(world.pay(page)).rejects.toThrow();
  await world.pay(full);
  await world.settle();
  expect(await paid(early)).toEqual([1_999, 1_999]);
});

test("a campaign says for whom it is, in the list and on the audit log; a choice that makes no sense is refused", async () => {
  for (const wrong of [
    { audience: "left" },
    { audience: "new", endedDays: 30 },
    { audience: "left", endedDays: 0 },
    { audience: "everybody" },
    { plans: [] },
    { plans: ["starter", "gold"] },
    { plans: ["starter", "starter"] },
  ])
    expect([wrong, (await plan(wrong as Partial<NewCampaign>)).statusCode]).toEqual([wrong, 400]);
  expect((await plan()).json()).toMatchObject({ audience: "new", endedDays: null, plans: null });
  await world.database.asOwner("delete from discount_campaigns");
  await winBack({ plans: ["basic"] });
  const list = (await world.app.inject({ url: "/api/admin/campaigns", headers: admin.headers })).json();
  expect(list.rows).toMatchObject([{ percent, audience: "left", endedDays: 30, plans: ["basic"] }]);
  const acts = world.database.db.selectFrom("audit_events").select("details").where("action", "=", "campaign.planned");
  const [last] = await acts.orderBy("id", "desc").limit(1).execute();
  expect(last?.details).toEqual({ percent, audience: "left", endedDays: 30, plans: ["basic"] });
});
