/** The free trial: one for each mailbox, to the second, for small text models; a plan in the middle of it loses nothing. */
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Session } from "#contract/auth/sign-in.ts";
import type { SubscriptionCheck, Trial } from "#contract/billing/subscription.ts";
import type { Wallet } from "#contract/credits/wallet.ts";
import { addMilliseconds, dayMs, minuteMs } from "#domain/clock.ts";
import { findModel, isInTrial, modelsAt } from "#domain/models.ts";
import { plans, trialCredits, trialDays } from "#domain/plans.ts";
import { quoteCredits } from "#domain/pricing.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { advanceTrials, checkTrials } from "#server/features/billing/trials.ts";
import { dueInstants } from "#server/features/clock/service.ts";
import { expireDueGrants, findDisagreements, postGrant } from "#server/features/credits/service.ts";
import { eraseDueAccounts } from "#server/features/deletion/erase.ts";
import { addRecording } from "#server/features/files/recordings.ts";
import { linkToken } from "#server/features/notifications/links.ts";
import type { RunningModels } from "#tests/support/answers.ts";
import { ask, send, startModels } from "#tests/support/answers.ts";
import { makeWav } from "#tests/support/make-audio.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { payerIdOf } from "../support/payers.ts";
import { cookiesOf, password, randomAddress } from "./auth-support.ts";

let answering: RunningModels;
let world: BillingWorld;
let url: string;
beforeAll(async () => {
  answering = await startModels();
  answering.pace.milliseconds = 0;
  world = await startBillingWorld({ SANDBOX_URL: answering.url, SANDBOX_TOKEN: "token-of-the-tests" });
  await world.app.listen({ host: "127.0.0.1", port: 0 });
  url = `http://127.0.0.1:${(world.app.server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  expect(await findDisagreements(world.deps.db)).toEqual([]);
  expect(await checkTrials(world.deps)).toEqual([]);
  await world.close();
  await answering.close();
});
beforeEach(() => world.database.asOwner("delete from auth_attempts"));

const db = () => world.database.db;
const start = (person: Person) => world.post("/api/billing/trial", person);
const check = async (person: Person) => (await world.post("/api/functions/reliable-subscription-check", person)).json<SubscriptionCheck>();
const wallet = async (person: Person) =>
  (await world.app.inject({ method: "GET", url: "/api/credits/wallet", headers: person.headers })).json<Wallet>();
const asker = ({ headers, ...person }: Person) => ({ ...person, walletId: "", token: headers.authorization.slice("Bearer ".length) });
const sendAs = async (person: Person, model: string) => {
  const found = findModel(model);
  if (!found) throw new Error(`no model ${model}`);
  const recorded = found.unit === "minute" ? await addRecording(world.deps, person.userId, "notes.wav", makeWav(1)) : undefined;
  const attached = recorded ? { attachments: [recorded.id] } : {};
  return send({ url } as never, asker(person), { model, quotedCredits: quoteCredits(found), ...attached });
};
const answer = (person: Person) => ask({ url } as never, asker(person), { model: "gpt-5-mini" });
const refusal = async (response: Response) => [response.status, (await response.json()) as Record<string, unknown>] as const;
const codeOf = (answered: { statusCode: number; json(): { code?: string } }) => [answered.statusCode, answered.json().code];

/** Moves business time and does what is due then, as the worker's loop does. */
async function pass(milliseconds: number): Promise<void> {
  world.clock.moveTo(addMilliseconds(world.clock.now(), milliseconds));
  await sweep();
}
async function sweep(): Promise<void> {
  await expireDueGrants(world.deps, world.clock.now());
  await advanceTrials(world.deps, world.clock.now());
}
const mailsTo = async (email: string) =>
  (
    await db()
      .selectFrom("mails")
      .select("template")
      .where("recipient", "=", email)
      .where("template", "like", "trial%")
      .orderBy("id")
      .execute()
  ).map(({ template }) => template);

async function personWith(email: string): Promise<Person> {
  const person = await world.person();
  await db().updateTable("identities").set({ subject: email }).where("user_id", "=", person.userId).execute();
  return { ...person, email };
}
async function onTrial(): Promise<Person> {
  const person = await world.person();
  expect((await start(person)).statusCode).toBe(200);
  return person;
}
const grantsOf = async (person: Person) =>
  db()
    .selectFrom("grants")
    .innerJoin("wallets", "wallets.id", "grants.wallet_id")
    .select(["kind", "credits", "remaining", "expires_at"])
    .where("billing_account_id", "=", await payerIdOf(db(), person.userId))
    .orderBy("expires_at")
    .execute();

describe("who gets a trial", () => {
  test.each([
    ["the same address with another alias", "ada+one@example.com", "ada+two@example.com"],
    ["the address without its alias", "bo+one@example.com", "bo@example.com"],
    ["Gmail with other dots", "c.a.r.l@gmail.com", "carl@gmail.com"],
    ["Gmail's other domain, with dots and an alias", "dora@gmail.com", "d.ora+x@googlemail.com"],
  ])("one mailbox gets one: %s is refused, and the page knows before", async (_name, first, second) => {
    expect((await start(await personWith(first))).statusCode).toBe(200);
    const again = await personWith(second);
    expect(await check(again)).toMatchObject({ subscribed: false, can_start_trial: false, trial_end: null });
    expect(codeOf(await start(again))).toEqual([409, "trial_used"]);
    expect(await grantsOf(again)).toEqual([]);
  });

  test("dots count as written outside Gmail: two mailboxes, two trials", async () => {
    for (const email of ["e.d@example.com", "ed@example.com"]) expect((await start(await personWith(email))).statusCode).toBe(200);
  });

  test("of two accounts of one mailbox that start at the same moment one gets it", async () => {
    const people = await Promise.all(Array.from({ length: 6 }, (_, index) => personWith(`frida+${index}@example.com`)));
    const codes = (await Promise.all(people.map(start))).map(({ statusCode }) => statusCode);
    expect(codes.toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
  });

  test("an account that was deleted and made again gets no second one, and only a keyed hash remembers it", async () => {
    const email = `gus-${randomUUID()}@example.com`;
    const person = await personWith(email);
    await start(person);
    await db()
      .updateTable("users")
      .set({ delete_at: new Date("2026-01-01T00:00:00Z") })
      .where("id", "=", person.userId)
      .execute();
    expect(await eraseDueAccounts(world.deps, new Date())).toBe(1);
    expect(await db().selectFrom("trials").selectAll().where("user_id", "=", person.userId).execute()).toEqual([]);
    const again = await personWith(email);
    expect((await check(again)).can_start_trial).toBe(false);
    expect(codeOf(await start(again))).toEqual([409, "trial_used"]);
    const kept = JSON.stringify(await db().selectFrom("trial_mailboxes").selectAll().execute());
    expect(kept).not.toContain(Buffer.from(email).toString("hex"));
  });

  test("a changed address brings no second one, neither to its account nor, once that is deleted, to another", async () => {
    const [old, next] = [`hal-${randomUUID()}@example.com`, `hilda-${randomUUID()}@example.com`];
    const from = { remoteAddress: randomAddress() };
    const inject = (path: string, payload: object, headers: Record<string, string> = {}) =>
      world.app.inject({ method: "POST", url: path, payload, headers, ...from });
    const tokenTo = async (email: string, template: string) => {
      const mails = await db()
        .selectFrom("mails")
        .select("parameters")
        .where("recipient", "=", email)
        .where("template", "=", template)
        .execute();
      return linkToken(world.deps.config, String(mails.at(-1)?.parameters.linkId));
    };
    const join = async (email: string) => {
      const signedUp = await inject("/api/auth/sign-up", { email, password });
      const confirmed = await inject("/api/auth/confirm", { token: await tokenTo(email, "confirm-email") }, cookiesOf(signedUp));
      const session = confirmed.json<Session>();
      return { userId: session.user.id, email, headers: { authorization: `Bearer ${session.access_token}` } };
    };
    const person = await join(old);
    const { endsAt } = (await start(person)).json<Trial>();
    const asked = await inject("/api/account/email", { email: next }, person.headers);
    expect(asked.statusCode).toBe(202);
    const moved = await inject("/api/auth/confirm-email-change", { token: await tokenTo(next, "email-change-confirm") }, cookiesOf(asked));
    expect(moved.statusCode).toBe(200);
    expect((await start(person)).json<Trial>().endsAt).toBe(endsAt);
    await world.database.asOwner(`delete from users where id = '${person.userId}'`);
    for (const email of [old, next]) expect(codeOf(await start(await personWith(email)))).toEqual([409, "trial_used"]);
  });

  test("nobody without a session, and nobody with a plan, be it unpaid; somebody whose plan has ended", async () => {
    expect((await world.post("/api/billing/trial")).statusCode).toBe(401);
    const person = await world.person();
    await world.buy(person);
    await world.settle();
    expect((await check(person)).can_start_trial).toBe(false);
    expect(codeOf(await start(person))).toEqual([409, "already_subscribed"]);
    const row = db().updateTable("user_subscriptions").where("user_id", "=", person.userId);
    await row.set({ status: "past_due", grace_until: addMilliseconds(world.clock.now(), dayMs) }).execute();
    expect(codeOf(await start(person))).toEqual([409, "already_subscribed"]);
    await row.set({ status: "canceled", grace_until: null, ended_at: world.clock.now() }).execute();
    expect((await check(person)).can_start_trial).toBe(true);
    expect((await start(person)).statusCode).toBe(200);
    expect(await check(person)).toMatchObject({ subscribed: true, plan_name: "Free Trial", cancel_at_period_end: false });
  });
});

describe("the trial", () => {
  test("twenty calls at once start one: the same answer, one grant, one act in the log", async () => {
    const person = await world.person();
    const answers = await Promise.all(Array.from({ length: 20 }, () => start(person)));
    expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`)).size).toBe(1);
    expect(answers[0]?.statusCode).toBe(200);
    expect(await grantsOf(person)).toMatchObject([{ kind: "trial", credits: trialCredits, remaining: trialCredits }]);
    const acts = await db()
      .selectFrom("audit_events")
      .innerJoin("audit_people", "audit_people.id", "audit_events.subject")
      .select("action")
      .where("user_id", "=", person.userId)
      .execute();
    expect(acts).toEqual([{ action: "trial.started" }]);
  });

  test("gives access and credits until the second it ends, and not after, even if no sweep has run", async () => {
    const person = await world.person();
    world.pushed.length = 0;
    const trial = (await start(person)).json<Trial>();
    expect(trial).toEqual({
      startedAt: world.clock.now().toISOString(),
      endsAt: addMilliseconds(world.clock.now(), trialDays * dayMs).toISOString(),
      credits: trialCredits,
    });
    await expect.poll(() => world.pushed).toContainEqual({ userId: person.userId, table: "user_subscriptions" });
    await expect.poll(() => world.pushed).toContainEqual({ userId: person.userId, table: "wallets" });
    expect(await check(person)).toMatchObject({
      ...{ subscribed: true, subscription_tier: "none", plan_name: "Free Trial", credits: trialCredits, subscription_end: trial.endsAt },
      ...{ trial_end: trial.endsAt, can_start_trial: false, next_credits_at: null, reason: null, billing_interval: null },
    });
    expect((await answer(person)).receipt).toMatchObject({ status: "completed", chargedCredits: 1, availableAfter: trialCredits - 1 });
    world.clock.moveTo(addMilliseconds(new Date(trial.endsAt), -1));
    expect((await start(person)).json()).toEqual(trial);
    expect((await answer(person)).receipt?.availableAfter).toBe(trialCredits - 2);
    world.clock.moveTo(new Date(trial.endsAt));
    expect(await check(person)).toMatchObject({
      ...{ subscribed: false, plan_name: "No Plan", credits: 0, subscription_end: null, trial_end: trial.endsAt, can_start_trial: false },
    });
    expect(await refusal(await sendAs(person, "gpt-5-mini"))).toMatchObject([402, { code: "subscription_required" }]);
    expect(codeOf(await start(person))).toEqual([409, "trial_used"]);
    world.pushed.length = 0;
    await sweep();
    expect((await wallet(person)).balance).toBe(0);
    await expect.poll(() => world.pushed).toContainEqual({ userId: person.userId, table: "user_subscriptions" });
  });

  test("covers every small text model and no other; a refusal holds nothing, names the model and what a plan costs", async () => {
    const person = await onTrial();
    const offered = modelsAt(world.clock.now()).filter(({ protocol }) => protocol);
    expect(offered.filter(isInTrial).map(({ category }) => category)).toEqual(Array.from({ length: 4 }, () => "text"));
    for (const model of offered) {
      const sent = await sendAs(person, model.id);
      await world.database.asOwner("update generations set asked_at = asked_at - interval '1 minute'; delete from refused_sends");
      if (isInTrial(model)) {
        expect([model.id, sent.status]).toEqual([model.id, 200]);
        await sent.text();
        continue;
      }
      const [status, body] = await refusal(sent);
      expect([status, body]).toMatchObject([
        402,
        { code: "model_not_in_trial", model: model.id, monthlyPriceCents: plans.starter.monthlyPriceCents },
      ]);
      expect(body.error).toContain(model.name);
      expect(body.error).toContain("$19.99");
    }
    const used = offered.filter(isInTrial).length;
    expect(await wallet(person)).toMatchObject({ balance: trialCredits - used, held: 0, available: trialCredits - used });
    expect(await db().selectFrom("generations").select("id").where("user_id", "=", person.userId).execute()).toHaveLength(used);
  });

  test("has Starter's rate, unlocks no packs, and once its credits are spent says how many there are", async () => {
    const person = await onTrial();
    const pack = { payerId: await payerIdOf(db(), person.userId), kind: "pack", credits: 100, key: `pack:${randomUUID()}` } as const;
    await inTransaction(db(), (trx) =>
      postGrant(trx, { ...pack, expiresAt: addMilliseconds(world.clock.now(), 365 * dayMs) }, world.clock.now()),
    );
    expect((await check(person)).credits).toBe(trialCredits);
    const statuses = [];
    for (let count = 0; count <= plans.starter.requestsPerMinute; count += 1) {
      const sent = await sendAs(person, "gpt-5-mini");
      statuses.push(sent.status);
      await sent.text();
    }
    expect(statuses).toEqual([...Array.from({ length: plans.starter.requestsPerMinute }, () => 200), 429]);
    for (let left = trialCredits - plans.starter.requestsPerMinute; left > 0; left -= 1) {
      await world.database.asOwner("update generations set asked_at = asked_at - interval '1 minute'");
      expect((await answer(person)).receipt?.availableAfter).toBe(left - 1);
    }
    await world.database.asOwner("update generations set asked_at = asked_at - interval '1 minute'; delete from refused_sends");
    expect(await refusal(await sendAs(person, "gpt-5-mini"))).toMatchObject([
      402,
      { code: "insufficient_credits", needed: 1, available: 0 },
    ]);
  });

  test("a plan in the middle of it: the rest pays for every model, soonest-expiring first, until the trial's own end", async () => {
    const person = await onTrial();
    const { trial_end: end } = await check(person);
    await pass(dayMs);
    await world.buy(person);
    await world.settle();
    expect(await check(person)).toMatchObject({
      ...{ subscribed: true, subscription_tier: "starter", plan_name: "Starter Plan", trial_end: end },
      credits: trialCredits + plans.starter.monthlyCredits,
    });
    expect((await start(person)).json<Trial>().endsAt).toBe(end);
    expect((await ask({ url } as never, asker(person), { model: "gpt-5", quotedCredits: 5 })).receipt?.chargedCredits).toBe(5);
    expect((await grantsOf(person)).map(({ kind, remaining }) => [kind, remaining])).toEqual([
      ["trial", trialCredits - 5],
      ["plan", plans.starter.monthlyCredits],
    ]);
    await pass(trialDays * dayMs);
    expect(await check(person)).toMatchObject({ subscribed: true, subscription_tier: "starter", credits: plans.starter.monthlyCredits });
    expect(await mailsTo(person.email)).toEqual([]);
  });

  test("a plan that ends within its seven days leaves the trial as it was", async () => {
    const person = await onTrial();
    const { trial_end: end } = await check(person);
    await world.buy(person);
    await world.settle();
    const row = db().updateTable("user_subscriptions").where("user_id", "=", person.userId);
    await row.set({ status: "canceled", ended_at: world.clock.now() }).execute();
    expect(await check(person)).toMatchObject({ subscribed: true, plan_name: "Free Trial", subscription_end: end, credits: trialCredits });
    expect((await sendAs(person, "gpt-5")).status).toBe(402);
    expect((await answer(person)).receipt?.status).toBe("completed");
  });
});

describe("what the person hears of it", () => {
  const untilReminder = (trialDays - 2) * dayMs;

  test("one reminder two days before the end, in their language, and one mail at the end, however often the sweeps run", async () => {
    const person = await onTrial();
    await db().updateTable("users").set({ language: "de" }).where("id", "=", person.userId).execute();
    await pass(untilReminder - minuteMs);
    expect(await mailsTo(person.email)).toEqual([]);
    await pass(minuteMs);
    const now = world.clock.now();
    await Promise.all(Array.from({ length: 4 }, () => advanceTrials(world.deps, now)));
    await sweep();
    expect(await mailsTo(person.email)).toEqual(["trial-ending"]);
    await pass(2 * dayMs);
    await sweep();
    expect(await mailsTo(person.email)).toEqual(["trial-ending", "trial-ended"]);
    const written = await db().selectFrom("mails").select(["language", "user_id"]).where("recipient", "=", person.email).execute();
    for (const mail of written) expect(mail).toEqual({ language: "de", user_id: person.userId });
    await pass(30 * dayMs);
    expect(await mailsTo(person.email)).toHaveLength(2);
  });

  test("after three days without a worker the reminder is left out, for the trial is over, and the end is told once", async () => {
    const person = await onTrial();
    world.clock.moveTo(addMilliseconds(world.clock.now(), untilReminder + 3 * dayMs));
    await sweep();
    await sweep();
    expect(await mailsTo(person.email)).toEqual(["trial-ended"]);
  });

  test("a worker that comes back within the two days catches up, and the mail still names the right end", async () => {
    const person = await onTrial();
    const { trial_end: end } = await check(person);
    await pass(untilReminder + dayMs);
    const mail = await db().selectFrom("mails").select("parameters").where("recipient", "=", person.email).executeTakeFirstOrThrow();
    expect(mail.parameters).toEqual({ expiresAt: end, priceCents: plans.starter.monthlyPriceCents });
  });

  test("no mail to those who switched these off, who have a plan, or who are deleting their account", async () => {
    const [off, leaving] = [await onTrial(), await onTrial()];
    await world.app.inject({
      method: "PATCH",
      url: "/api/account/notifications",
      headers: off.headers,
      payload: { kind: "trial", wanted: false },
    });
    await db()
      .updateTable("users")
      .set({ delete_at: new Date("2099-01-01T00:00:00Z") })
      .where("id", "=", leaving.userId)
      .execute();
    await pass(untilReminder);
    await pass(2 * dayMs);
    for (const { email } of [off, leaving]) expect(await mailsTo(email)).toEqual([]);
    expect((await check(off)).subscribed).toBe(false);
  });

  test("the sandbox's clock stops at the reminder and at the end", async () => {
    await sweep();
    const begun = world.clock.now();
    await onTrial();
    expect((await dueInstants(db())).trials).toEqual(addMilliseconds(begun, untilReminder));
    await pass(untilReminder);
    expect((await dueInstants(db())).trials).toEqual(addMilliseconds(begun, trialDays * dayMs));
    await pass(2 * dayMs);
    expect((await dueInstants(db())).trials).toBeNull();
  });
});

test("the hourly check finds a trial without its credits, and credits without their trial", async () => {
  const [one, other] = [await onTrial(), await onTrial()];
  expect(await checkTrials(world.deps)).toEqual([]);
  await world.database.asOwner(`update trials set ends_at = ends_at + interval '1 second' where user_id = '${one.userId}'`);
  await world.database.asOwner(`delete from trials where user_id = '${other.userId}'`);
  const found = await checkTrials(world.deps);
  expect(found.map(({ kind }) => kind).toSorted()).toEqual(["grant", "grant", "trial"]);
  expect(found).toContainEqual({ kind: "trial", id: one.userId, payerId: await payerIdOf(db(), one.userId) });
  const findings = () => db().selectFrom("findings").select(["kind", "resolved_by"]).orderBy("id").execute();
  expect(await findings()).toEqual(found.map(() => ({ kind: "wrong_trial", resolved_by: null })));
  await world.database.asOwner(`update trials set ends_at = ends_at - interval '1 second' where user_id = '${one.userId}'`);
  expect(await checkTrials(world.deps)).toHaveLength(1);
  expect((await findings()).map(({ resolved_by: by }) => by).toSorted()).toEqual(["itself", "itself", null]);
  await pass(trialDays * dayMs);
});
