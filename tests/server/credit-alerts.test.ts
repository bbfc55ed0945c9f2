/** The alert at a share of the month's plan credits: once for each month, whatever ends at once, is repeated or is delivered again. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { SpendingLimits } from "#contract/credits/limits.ts";
import { languages } from "#domain/languages.ts";
import { tellLowCredits } from "#server/features/billing/low-credits.ts";
import { choose } from "#server/features/notifications/choices.ts";
import { renderMail } from "#server/features/notifications/render.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";
import { mailsTo, spend, subscribe, walletOf } from "../support/returns.ts";

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld({}, new Date("2026-01-10T12:00:00Z"));
});
afterEach(() => world.endPlans());
afterAll(() => world.close());

const job = "tell-low-credits";

/** The alerts that are written down and not told yet. */
async function alerts(): Promise<string[]> {
  const rows = await world.database.db.selectFrom("outbox").select("payload").where("job", "=", job).orderBy("id").execute();
  return rows.map(({ payload }) => (payload as { grantId: string }).grantId);
}

/** Runs each job twice, as the worker does after a crash before the job was marked as done. */
async function tell(): Promise<number> {
  const waiting = await alerts();
  for (const grantId of [...waiting, ...waiting]) await tellLowCredits(world.deps, grantId);
  await world.database.db.deleteFrom("outbox").where("job", "=", job).execute();
  return waiting.length;
}

const mails = (person: Person) => mailsTo(world, person, "credits-low");
const check = async (person: Person) => (await world.post("/api/functions/reliable-subscription-check", person)).json<SubscriptionCheck>();

async function setAlert(person: Person, alertPercent: SpendingLimits["alertPercent"]): Promise<SpendingLimits> {
  const payload = { dailyCapCredits: null, askAboveCredits: null, alertPercent };
  const response = await world.app.inject({ method: "PUT", url: "/api/credits/limits", headers: person.headers, payload });
  expect(response.statusCode).toBe(200);
  return response.json();
}

describe("once the share is spent", () => {
  test("one mail says what is left and when the next credits come, and one notice stands until it is closed", async () => {
    const person = await subscribe(world);
    await spend(world, person, 239);
    expect([await tell(), (await check(person)).spent_percent]).toEqual([0, undefined]);
    await spend(world, person, 1);
    world.pushed.length = 0;
    expect(await tell()).toBe(1);
    expect(await mails(person)).toEqual([
      { template: "credits-low", percent: 80, credits: 300, left: 60, renewsAt: "2026-02-10T12:00:00.000Z" },
    ]);
    await expect.poll(() => world.pushed).toContainEqual(expect.objectContaining({ userId: person.userId }));
    expect((await check(person)).spent_percent).toBe(80);
    expect((await world.post("/api/credits/alert/dismiss", person)).statusCode).toBe(204);
    expect((await check(person)).spent_percent).toBeUndefined();
    await spend(world, person, 60);
    expect([await tell(), await mails(person), (await check(person)).spent_percent]).toEqual([0, [expect.anything()], undefined]);
  });

  test("of many that spend at once exactly one tells", async () => {
    const person = await subscribe(world);
    await spend(world, person, 230);
    await Promise.all(Array.from({ length: 20 }, () => spend(world, person, 2)));
    expect(await alerts()).toHaveLength(1);
    expect([await tell(), (await mails(person)).length]).toEqual([1, 1]);
  });

  test("the same again in the next month, counted from its own credits; the notice of the old month goes", async () => {
    const person = await subscribe(world, "basic_month");
    await spend(world, person, 500);
    expect([await tell(), (await check(person)).spent_percent]).toEqual([1, 80]);
    const renewsAt = (await check(person)).subscription_end ?? "";
    await world.moveTo(new Date(Date.parse(renewsAt) + 2 * 3_600_000));
    expect([(await walletOf(world, person)).available, (await check(person)).spent_percent]).toEqual([600, undefined]);
    await spend(world, person, 479);
    expect(await tell()).toBe(0);
    await spend(world, person, 1);
    expect([await tell(), (await mails(person)).length]).toEqual([1, 2]);
  });

  test("an alert that is told only after its month is over is left out", async () => {
    const person = await subscribe(world);
    await spend(world, person, 300);
    const [grantId = ""] = await alerts();
    await world.moveTo(new Date(world.clock.now().getTime() + 40 * 86_400_000));
    await tellLowCredits(world.deps, grantId);
    expect(await mails(person)).toEqual([]);
    await tell();
  });
});

describe("nobody is told", () => {
  test("of what expired or was taken back with its money, nor of a pack's credits", async () => {
    const person = await subscribe(world);
    await world
      .post("/api/billing/packs/checkout", person, { pack: "pack_100", consent: consentTo("pack_100") })
      .then(async (response) => world.pay(response.json().url));
    await world.settle();
    await spend(world, person, 200);
    const { db } = world.database;
    const { rows } = await sql<{ id: string }>`select g.id from grants g join wallets w on w.id = g.wallet_id
      where w.billing_account_id = payer_of(${person.userId}) and g.kind = 'plan'`.execute(db);
    // 60 of 300 go back: then 200 of 240 are spent, more than four fifths, without anything spent.
    await sql`select ledger_claw_back(${rows[0]?.id}, 60, ${`refund:${randomUUID()}`}, ${world.clock.now()})`.execute(db);
    expect(await alerts()).toEqual([]);
    const other = await subscribe(world);
    await sql`select ledger_expire_grant(g.id, ${world.clock.now()}) from grants g join wallets w on w.id = g.wallet_id
      where w.billing_account_id = payer_of(${other.userId})`.execute(db);
    expect(await alerts()).toEqual([]);
  });

  test("who chose not to be; who chose another share is told at that", async () => {
    const [none, half] = [await subscribe(world), await subscribe(world)];
    expect((await setAlert(none, null)).alertPercent).toBeNull();
    expect((await setAlert(half, 50)).alertPercent).toBe(50);
    await spend(world, none, 300);
    await spend(world, half, 149);
    expect(await alerts()).toEqual([]);
    await spend(world, half, 1);
    expect(await tell()).toBe(1);
    expect([await mails(none), await mails(half)]).toMatchObject([[], [{ percent: 50, left: 150 }]]);
    // A month that was told of is not told of again, also at a higher share; the next one is.
    await setAlert(half, 90);
    await spend(world, half, 150);
    expect([await tell(), (await check(half)).spent_percent]).toEqual([0, 50]);
  });

  test("of a share that was passed before it was chosen, until the next month", async () => {
    const person = await subscribe(world);
    await setAlert(person, 95);
    await spend(world, person, 200);
    await setAlert(person, 50);
    await spend(world, person, 1);
    expect(await alerts()).toEqual([]);
  });

  test("by mail who switched these mails off; the notice comes", async () => {
    const person = await subscribe(world);
    await choose(world.database.db, person.userId, { kind: "credits", wanted: false });
    await spend(world, person, 240);
    expect([await tell(), await mails(person), (await check(person)).spent_percent]).toEqual([1, [], 80]);
  });

  test("another's notice closed by somebody else", async () => {
    const [person, other] = [await subscribe(world), await subscribe(world)];
    await spend(world, person, 240);
    await tell();
    await world.post("/api/credits/alert/dismiss", other);
    expect((await check(person)).spent_percent).toBe(80);
  });
});

test("a share that is not offered is refused, and a page of the release before keeps the share", async () => {
  const person = await world.person();
  const put = (payload: object) => world.app.inject({ method: "PUT", url: "/api/credits/limits", headers: person.headers, payload });
  const own = { dailyCapCredits: 5, askAboveCredits: null };
  expect((await put({ ...own, alertPercent: 81 })).statusCode).toBe(400);
  await setAlert(person, 95);
  expect((await put(own)).json()).toMatchObject({ dailyCapCredits: 5, alertPercent: 95 });
});

test("whoever's plan ends is told so, and whoever owes for it, in every language", async () => {
  const person = await subscribe(world);
  await world.post("/api/billing/cancellation", person);
  await world.settle();
  await spend(world, person, 240);
  await tell();
  const parameters = { percent: 80, credits: 300, left: 60, renewsAt: "2026-02-10T12:00:00.000Z" };
  for (const { code: language } of languages) {
    const rendered = ["", "ending", "unpaid"].map((variant) =>
      renderMail(world.deps.config, {
        template: "credits-low",
        language,
        parameters: variant === "" ? parameters : { ...parameters, variant },
      }),
    );
    expect(new Set(rendered.map(({ text }) => text)).size).toBe(3);
    for (const { text, html } of rendered)
      for (const words of [text, html]) {
        expect(words).toContain("/profile/usage#limits");
        expect(words).not.toMatch(/\{\{|undefined|NaN/);
        expect(words).toMatch(/80\s?%|%80/u);
      }
  }
  expect((await mails(person))[0]).toMatchObject({ variant: "ending" });
});
