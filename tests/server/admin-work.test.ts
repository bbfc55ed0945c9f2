/** What needs the team, and failed work in the admin panel: seen, put back, discarded, closed and released, each with a reason. */
import { randomUUID } from "node:crypto";
import type { LightMyRequestResponse } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SentMailRow } from "#contract/admin/mails.ts";
import type { ClosedFindings, Needs } from "#contract/admin/needs.ts";
import type { AuditRow } from "#contract/admin/team.ts";
import type { EventRow, LetterRow, RefusedMailRow, Results, WorkAct } from "#contract/admin/work.ts";
import { addMilliseconds, hourMs } from "#domain/clock.ts";
import type { FindingDetails } from "#domain/findings.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { showDispute } from "#server/features/billing/disputes.ts";
import { holdForSeveral } from "#server/features/credits/holds.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { recordFinding, resolveSubjects } from "#server/features/findings/service.ts";
import { payerIdOf } from "#tests/support/payers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson, subscribe } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let product: AuthApp;
let admin: TestPerson;
let person: TestPerson;
beforeAll(async () => {
  product = await createAuthApp();
  [admin, person] = [await createPerson(product, product.db), await createPerson(product, product.db)];
  await product.db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.userId).execute();
});
afterAll(async () => {
  expect(await findDisagreements(product.db)).toEqual([]);
  await product.close();
});

const headers = () => ({ authorization: `Bearer ${admin.token}` });
const get = async (url: string) => (await product.app.inject({ url: `/api/admin/${url}`, headers: headers() })).json();
const act = (url: string, body: object): Promise<LightMyRequestResponse> =>
  product.app.inject({ method: "POST", url: `/api/admin/${url}`, headers: headers(), payload: { reason: "Looked at it", ...body } });
async function outcomes(url: string, ids: readonly string[]): Promise<string[][]> {
  return (await act(url, { ids })).json<Results>().results.map(({ id, outcome }) => [id, outcome]);
}
const needs = (): Promise<Needs> => get("needs");
const latest = async (): Promise<Partial<AuditRow>> => {
  const [{ action, details, reason, actorId }] = (await get(`audit?by=${encodeURIComponent(admin.email)}&limit=1`)).rows;
  return { action, details, reason, actorId };
};
const actsAbout = async ({ email }: TestPerson): Promise<string[]> =>
  (await get(`audit?about=${encodeURIComponent(email)}`)).rows.map(({ action }: AuditRow) => action);
const entry = (action: string, details: object) => ({ action, details, reason: "Looked at it", actorId: admin.userId });

async function letter(job = "send-mail", mailId: string = randomUUID()): Promise<string> {
  const id = randomUUID();
  const row = { id, job, payload: JSON.stringify({ mailId }), error: "550 refused", attempts: 10, replayed_at: null };
  await product.db.insertInto("dead_letters").values(row).execute();
  return id;
}
const isQueued = async (id: string) => (await product.db.selectFrom("outbox").select("id").where("id", "=", id).execute()).length === 1;

test("jobs that failed for good are put back or discarded, several at once, each once", async () => {
  // The third became a dead letter because its payload is damaged.
  const [back, gone, other] = [await letter(), await letter("pay-back"), await letter("send-mail", "not an id")];
  expect((await needs()).deadLetters.rows.map(({ id }) => id)).toEqual(expect.arrayContaining([back, gone, other]));
  const unknown = randomUUID();
  expect(await outcomes("dead-letters/replay", [back, unknown, other])).toEqual([
    [back, "done"],
    [unknown, "missing"],
    [other, "done"],
  ]);
  expect(await outcomes("dead-letters/replay", [back])).toEqual([[back, "replayed"]]);
  expect(await latest()).toMatchObject({ action: "dead_letter.replayed", reason: "Looked at it", actorId: admin.userId });
  expect(await outcomes("dead-letters/discard", [gone, back])).toEqual([
    [gone, "done"],
    [back, "replayed"],
  ]);
  expect(await latest()).toEqual(entry("dead_letter.discarded", { deadLetterId: gone, job: "pay-back" }));
  expect(await outcomes("dead-letters/discard", [gone])).toEqual([[gone, "discarded"]]);
  expect([await isQueued(back), await isQueued(other), await isQueued(gone)]).toEqual([true, true, false]);
  // Who did what to one of them, and why; the list says how often it was tried and when it was settled.
  const actsOn = async (id: string) =>
    (await get(`dead-letters/${id}`)).acts.map(({ act: done, by, reason }: WorkAct) => [done, by, reason]);
  expect(await actsOn(gone)).toEqual([["discarded", admin.email, "Looked at it"]]);
  expect(await actsOn(back)).toEqual([["replayed", admin.email, "Looked at it"]]);
  const [settled] = (await get("dead-letters?state=discarded")).rows;
  expect([settled.attempts, settled.settledAt]).toEqual([10, expect.any(String)]);
  expect((await get(`dead-letters/${unknown}`)).code).toBe("not_found");
  expect((await needs()).deadLetters.rows).toEqual([]);
  const states = async (query: string) => (await get(`dead-letters?${query}`)).rows.map(({ id, state }: LetterRow) => [id, state]);
  expect(await states("state=discarded")).toEqual([[gone, "discarded"]]);
  expect(await states("job=pay-back")).toEqual([[gone, "discarded"]]);
  expect(await states("state=waiting")).toEqual([]);
  expect((await states("state=replayed")).map(([id]: [string]) => id).sort()).toEqual([back, other].sort());
});

test("a job that was discarded is put back, once; one that was discarded with its event of Stripe's is put back with that alone", async () => {
  const gone = await letter("pay-back");
  await outcomes("dead-letters/discard", [gone]);
  const twice = await Promise.all([1, 2].map(() => outcomes("dead-letters/replay", [gone])));
  expect(twice.flat().map(([, outcome]) => outcome)).toEqual(expect.arrayContaining(["done", "replayed"]));
  expect(await isQueued(gone)).toBe(true);
  expect((await get(`dead-letters/${gone}`)).acts.map(({ act: done }: WorkAct) => done)).toEqual(["replayed", "discarded"]);
  expect((await get("dead-letters?state=replayed")).rows.map(({ id }: LetterRow) => id)).toContain(gone);

  const ofEvent = await letter("process-stripe-event", "evt_of_letter");
  await outcomes("dead-letters/discard", [ofEvent]);
  expect(await outcomes("dead-letters/replay", [ofEvent])).toEqual([[ofEvent, "discarded"]]);
  expect(await isQueued(ofEvent)).toBe(false);
});

test("a mail that was given up is shown with the person and not among the jobs, and is sent again", async () => {
  const now = new Date();
  const about = { user_id: person.userId, recipient: "gone@example.com", template: "plan-ended", language: "en", parameters: "{}" };
  const { id: mailId } = await product.db
    .insertInto("mails")
    .values({ ...about, key: randomUUID(), created_at: now, sent_at: null })
    .returning("id")
    .executeTakeFirstOrThrow();
  const id = await letter("send-mail", mailId);
  const seen = await needs();
  const whose = { userId: person.userId, email: person.email };
  expect(seen.refusedMails.rows).toMatchObject([
    { id, template: "plan-ended", recipient: "gone@example.com", error: "550 refused", ...whose },
  ]);
  expect(seen.deadLetters.rows.map((row) => row.id)).not.toContain(id);
  expect(await outcomes("dead-letters/replay", [id])).toEqual([[id, "done"]]);
  expect([await isQueued(id), (await needs()).refusedMails.rows]).toEqual([true, []]);
  expect(await actsAbout(person)).toEqual(["dead_letter.replayed"]);
});

test("letters of mails that are gone hide no newer mail that was given up", async () => {
  const gone = await Promise.all(Array.from({ length: 21 }, () => letter()));
  const about = { user_id: null, recipient: "full@example.com", template: "contact-received", language: "en", parameters: "{}" };
  const { id: mailId } = await product.db
    .insertInto("mails")
    .values({ ...about, key: randomUUID(), created_at: new Date(), sent_at: null })
    .returning("id")
    .executeTakeFirstOrThrow();
  const id = await letter("send-mail", mailId);
  expect((await needs()).refusedMails.rows.map((mail) => mail.id)).toEqual([id]);
  await outcomes("dead-letters/discard", [...gone, id]);
});

test("a mail that was given up goes to a right address: a receipt to the account's, an answer to any, and a link nowhere else", async () => {
  const now = new Date();
  async function refused(template: string, parameters: object, userId: string | null = person.userId): Promise<string> {
    const about = { user_id: userId, recipient: "wrong@example.com", template, language: "en", parameters: JSON.stringify(parameters) };
    const mail = { ...about, key: randomUUID(), created_at: now, sent_at: null };
    return letter("send-mail", (await product.db.insertInto("mails").values(mail).returning("id").executeTakeFirstOrThrow()).id);
  }
  const receipt = await refused("plan-ended", { plan: "starter", endedAt: now.toISOString() });
  const answer = await refused("contact-answer", { topic: "Hi" }, null);
  const link = await refused("password-reset", { linkId: randomUUID() });
  const rows: RefusedMailRow[] = (await get("refused-mails?state=waiting")).rows;
  expect(rows.map(({ id, recipient, elsewhere }) => [id, recipient, elsewhere])).toEqual([
    [link, "wrong@example.com", null],
    [answer, "wrong@example.com", "any"],
    [receipt, "wrong@example.com", "account"],
  ]);
  const again = (id: string, recipient: string) => act("refused-mails/again", { id, recipient });
  const other = "other@example.com";
  for (const id of [receipt, link]) expect((await again(id, other)).json().code).toBe("conflict");
  expect((await again(answer, "not an address")).json().code).toBe("validation_failed");
  expect((await again(randomUUID(), other)).json().code).toBe("not_found");
  expect([await isQueued(receipt), await isQueued(link)]).toEqual([false, false]);
  // If two ask at once, the second is told.
  const both = await Promise.all([again(receipt, person.email), again(receipt, person.email)]);
  expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([204, 409]);
  expect(await latest()).toEqual(entry("mail.readdressed", { template: "plan-ended" }));
  expect((await again(answer, other)).statusCode).toBe(204);
  expect((await again(link, "wrong@example.com")).statusCode).toBe(204);
  const mails = product.db
    .selectFrom("mails")
    .select(["template", "recipient"])
    .where("template", "in", ["plan-ended", "contact-answer", "password-reset"]);
  expect(await mails.where("recipient", "in", [person.email, other, "wrong@example.com"]).orderBy("id").execute()).toEqual([
    { template: "plan-ended", recipient: person.email },
    { template: "contact-answer", recipient: other },
    { template: "password-reset", recipient: "wrong@example.com" },
  ]);
  expect([await isQueued(receipt), await isQueued(answer), await isQueued(link)]).toEqual([true, true, true]);
  expect((await get("refused-mails?state=waiting")).rows).toEqual([]);
});

const about = { type: "invoice.paid", livemode: false, object_id: "in_1", created_at: new Date(), processed_at: null, taken_by: null };
type EventStatus = "processed" | "set_aside" | "received";
async function plantEvents(events: Record<string, EventStatus>): Promise<void> {
  for (const [id, status] of Object.entries(events))
    await product.db
      .insertInto("stripe_events")
      .values({ ...about, id, status, payload: JSON.stringify({ id }) })
      .execute();
}
const statusesOf = async (ids: readonly string[]) => {
  const rows = await product.db.selectFrom("stripe_events").select(["id", "status"]).where("id", "in", ids).execute();
  return ids.map((id) => rows.find((row) => row.id === id)?.status);
};
/** What the panel's list says of them. */
const shownAs = async (status: string) => (await get(`stripe-events?status=${status}`)).rows.map(({ id }: EventRow) => id).sort();

async function eventLetter(eventId: string): Promise<string> {
  const id = randomUUID();
  const row = { id, job: "process-stripe-event", payload: JSON.stringify({ eventId }), error: "no such invoice", attempts: 10 };
  await product.db
    .insertInto("dead_letters")
    .values({ ...row, replayed_at: null })
    .execute();
  return id;
}
const jobsOf = async (eventId: string) =>
  (await product.db.selectFrom("outbox").select("payload").execute()).filter(
    ({ payload }) => (payload as { eventId?: string }).eventId === eventId,
  ).length;

test("events that were set aside or have failed are discarded, several at once, and put back; those that are done, wait or are acted on are not", async () => {
  await plantEvents({ evt_d1: "set_aside", evt_d2: "received", evt_d3: "received", evt_d4: "processed", evt_d5: "received" });
  // The job of the second one, which acts on the third as well, has failed for good; that of the fifth still waits.
  const failed = await eventLetter("evt_d2");
  await product.db.updateTable("stripe_events").set({ taken_by: "evt_d2" }).where("id", "in", ["evt_d2", "evt_d3"]).execute();
  const all = ["evt_d1", "evt_d2", "evt_d3", "evt_d4", "evt_d5"];
  expect(await shownAs("failed")).toEqual(["evt_d2", "evt_d3"]);
  expect((await get("stripe-events?event=evt_d2")).rows).toMatchObject([{ status: "failed", error: "no such invoice" }]);
  const acting = { taken_until: new Date(Date.now() + hourMs) };
  await product.db.updateTable("stripe_events").set(acting).where("id", "=", "evt_d2").execute();
  expect(await outcomes("stripe-events/discard", ["evt_d2"])).toEqual([["evt_d2", "busy"]]);
  await product.db.updateTable("stripe_events").set({ taken_until: new Date() }).where("id", "=", "evt_d2").execute();
  const asked = ["evt_d1", "evt_d2", "evt_d4", "evt_d5", "evt_unknown"];
  expect(await outcomes("stripe-events/discard", asked)).toEqual([
    ["evt_d1", "done"],
    ["evt_d2", "done"],
    ["evt_d4", "settled"],
    ["evt_d5", "waiting"],
    ["evt_unknown", "missing"],
  ]);
  expect(await statusesOf(all)).toEqual(["discarded", "discarded", "received", "processed", "received"]);
  expect(await shownAs("discarded")).toEqual(["evt_d1", "evt_d2"]);
  // The third has a job of its own again, and the failed one is settled.
  expect([await jobsOf("evt_d3"), await isQueued(failed)]).toEqual([1, false]);
  expect((await get("needs")).deadLetters.rows.map(({ id }: { id: string }) => id)).not.toContain(failed);
  expect(await latest()).toEqual(entry("stripe_event.discarded", { eventId: "evt_d2", type: "invoice.paid" }));
  // The database itself also refuses to discard an event that was acted on, and to mark a discarded one as processed.
  const set = (id: string, status: "discarded" | "processed") =>
    product.db.updateTable("stripe_events").set({ status }).where("id", "=", id).execute();
  await expect(set("evt_d4", "discarded")).rejects.toThrow("goes from processed to discarded");
  await expect(set("evt_d1", "processed")).rejects.toThrow("goes from discarded to processed");
  await expect(product.db.updateTable("stripe_events").set({ type: "x" }).where("id", "=", "evt_d1").execute()).rejects.toThrow(
    "permission denied",
  );
  // If two admins ask at once, one puts it back and the other is told.
  const both = await Promise.all([outcomes("stripe-events/replay", ["evt_d1"]), outcomes("stripe-events/replay", ["evt_d1"])]);
  expect(
    both
      .flat()
      .map(([, outcome]) => outcome)
      .sort(),
  ).toEqual(["done", "waiting"]);
  const twice = await Promise.all([outcomes("stripe-events/replay", ["evt_d2"]), outcomes("stripe-events/discard", ["evt_d2"])]);
  expect(["done,discarded", "done,waiting"]).toContain(
    twice
      .flat()
      .map(([, outcome]) => outcome)
      .join(","),
  );
  expect([await statusesOf(["evt_d1", "evt_d2"]), await jobsOf("evt_d1")]).toEqual([["received", "received"], 1]);
  const { acts } = await get("stripe-events/evt_d1");
  expect(acts.map(({ act: done, by, reason }: WorkAct) => [done, by, reason])).toEqual([
    ["replayed", admin.email, "Looked at it"],
    ["discarded", admin.email, "Looked at it"],
  ]);
  // Replaying an event whose job failed replays that job's dead letter.
  const again = await eventLetter("evt_d5");
  expect(await outcomes("stripe-events/replay", ["evt_d5"])).toEqual([["evt_d5", "done"]]);
  expect(await isQueued(again)).toBe(true);
});

test("an event of Stripe's is acted on again, whatever became of it, unless it waits already; its content can be read", async () => {
  const ids = ["evt_done", "evt_aside", "evt_waits"];
  await plantEvents({ evt_done: "processed", evt_aside: "set_aside", evt_waits: "received" });
  expect((await get("stripe-events?status=set_aside")).rows).toMatchObject([{ id: "evt_aside", type: "invoice.paid", objectId: "in_1" }]);
  expect((await get("stripe-events?type=invoice.paid&limit=2")).rows).toHaveLength(2);
  const ofCustomer = { ...about, id: "evt_of_customer", object_id: "in_7", status: "processed" as const };
  const payload = JSON.stringify({ data: { object: { customer: "cus_7" } } });
  await product.db
    .insertInto("stripe_events")
    .values({ ...ofCustomer, payload })
    .execute();
  for (const query of ["object=in_7", "customer=cus_7"])
    expect((await get(`stripe-events?${query}`)).rows.map(({ id }: EventRow) => id)).toEqual(["evt_of_customer"]);
  expect((await get("stripe-events?customer=cus_8")).rows).toEqual([]);
  expect(await get("stripe-events/evt_done")).toEqual({ payload: { id: "evt_done" }, acts: [] });
  expect(await outcomes("stripe-events/replay", [...ids, "evt_unknown"])).toEqual([
    ["evt_done", "done"],
    ["evt_aside", "done"],
    ["evt_waits", "waiting"],
    ["evt_unknown", "missing"],
  ]);
  expect(await statusesOf(ids)).toEqual(["received", "received", "received"]);
  const { rows: log } = await get("audit?action=stripe_event.replayed");
  expect(log.map(({ details }: AuditRow) => details.eventId)).toEqual(expect.arrayContaining(["evt_aside", "evt_done"]));
});

test("a finding, a failed payment, a dispute and a stuck hold are shown with the person, and mended", async () => {
  const { db } = product;
  const payerId = await payerIdOf(db, person.userId);
  const found = { kind: "missing_grant", subject: "in_found", payerId, details: {} } as const;
  await recordFinding(db, found, null, new Date());
  const figures = { total_cents: 1999, unpaid_cents: 1999, refunded_cents: 0, status: "open" as const, failed: true, needs_action: false };
  const sold = { plan_key: null, billing_interval: null, pack_key: null, period_start: null, period_end: null };
  const invoice = { id: "in_failed", billing_account_id: payerId, number: null, stripe_subscription_id: null, ...figures, ...sold };
  await db
    .insertInto("invoices")
    .values({ ...invoice, issued_at: new Date(), updated_at: new Date() })
    .execute();
  const dueAt = addMilliseconds(new Date(), hourMs);
  const charge = { charge_id: "ch_disputed", billing_account_id: payerId, paid_cents: 1999, refunded_cents: 0, lost_cents: 0 };
  await db
    .insertInto("charge_returns")
    .values({ ...charge, disputed: true, evidence_due_at: dueAt, version: 1, recorded_at: new Date() })
    .execute();
  const hold = {
    holdId: randomUUID(),
    userId: person.userId,
    credits: 30,
    kinds: ["adjustment" as const],
    holdMs: hourMs,
    now: new Date(),
  };
  await inTransaction(product.deps.db, (trx) => holdForSeveral(trx, hold));
  expect((await needs()).holds.rows).toEqual([]);
  await product.asOwner(`update holds set deadline = now() - interval '1 hour' where id = '${hold.holdId}'`);

  const seen = await needs();
  const whose = { userId: person.userId, email: person.email };
  expect(seen.findings).toMatchObject({ isMore: false, rows: [{ kind: "missing_grant", subject: "in_found", ...whose }] });
  expect(seen.failedPayments.rows).toMatchObject([{ id: "in_failed", unpaidCents: 1999, ...whose }]);
  // The Stripe of these tests is played, and has no dashboard.
  const dispute = { id: "ch_disputed", paidCents: 1999, dueAt: dueAt.toISOString(), dashboardUrl: null };
  const row = { ...charge, recorded_at: new Date(), evidence_due_at: dueAt };
  const at = (livemode: boolean) => showDispute({ stripe: { ...product.config.stripe, apiUrl: undefined, livemode } }, row).dashboardUrl;
  expect([at(true), at(false)]).toEqual(["", "test/"].map((mode) => `https://dashboard.stripe.com/${mode}payments/ch_disputed`));
  expect(seen.disputes.rows).toMatchObject([{ ...dispute, ...whose }]);
  expect((await get(`people/${person.userId}`)).money.disputes).toMatchObject([dispute]);
  expect(seen.holds.rows).toMatchObject([{ id: hold.holdId, credits: 30, ...whose }]);

  const [finding] = seen.findings.rows;
  expect((await act("findings/close", { findingId: finding?.id })).statusCode).toBe(204);
  expect(await latest()).toEqual(entry("finding.closed", { kind: "missing_grant", subject: "in_found" }));
  const second = await act("findings/close", { findingId: finding?.id });
  expect([second.statusCode, second.json()]).toMatchObject([409, { code: "finding_closed", by: admin.email, since: expect.any(String) }]);
  expect((await act("findings/close", { findingId: randomUUID() })).statusCode).toBe(404);
  expect((await act("holds/release", {})).json()).toEqual({ count: 1 });
  expect(await latest()).toEqual(entry("holds.released", { holds: 1 }));
  expect(await needs()).toMatchObject({ findings: { rows: [] }, holds: { rows: [] } });
  expect((await actsAbout(person)).slice(0, 2)).toEqual(["holds.released", "finding.closed"]);
});

test("an unpaid invoice is mailed with the link to pay it, once for a key, while its plan can still be kept", async () => {
  const { db } = product;
  const [now, payerId, member] = [new Date(), await payerIdOf(db, person.userId), `people/${person.userId}`];
  await subscribe(db, person.userId, "starter");
  const subscription = { stripe_subscription_id: `sub_${person.userId}` };
  const figures = { total_cents: 1999, unpaid_cents: 1999, refunded_cents: 0, status: "open" as const, failed: true, needs_action: false };
  const sold = { plan_key: "starter" as const, billing_interval: "month" as const, pack_key: null, period_start: now, period_end: now };
  const invoice = { id: "in_unpaid", billing_account_id: payerId, number: null, ...subscription, ...figures, ...sold };
  await db
    .insertInto("invoices")
    .values({ ...invoice, issued_at: now, updated_at: now })
    .execute();
  const shown = async () => (await needs()).failedPayments.rows.find(({ id }) => id === invoice.id);
  const mail = (id: string, key: string = randomUUID()) => act(`${member}/invoices/${id}/pay-link`, { key });
  expect(await shown()).toMatchObject({ canMail: false, dashboardUrl: null });
  expect((await mail(invoice.id)).json().code).toBe("conflict");
  const graceUntil = addMilliseconds(now, hourMs);
  await db
    .updateTable("user_subscriptions")
    .set({ status: "past_due", grace_until: graceUntil })
    .where("user_id", "=", person.userId)
    .execute();
  expect(await shown()).toMatchObject({ canMail: true });
  const key = randomUUID();
  expect([(await mail(invoice.id, key)).statusCode, (await mail(invoice.id, key)).statusCode]).toEqual([204, 204]);
  const [row, ...others] = (await get(`mails?recipient=${encodeURIComponent(person.email.toUpperCase())}&template=payment-failed`)).rows;
  expect([row, others]).toMatchObject([{ state: "waiting", userId: person.userId, error: null }, []]);
  expect(await latest()).toEqual(entry("mail.sent_again", { template: "payment-failed" }));
  const sent = db.selectFrom("mails").select("parameters").where("id", "=", row.id);
  expect((await sent.executeTakeFirstOrThrow()).parameters).toMatchObject({ invoiceId: invoice.id, amountCents: 1999, plan: "starter" });
  expect((await mail("in_unknown")).statusCode).toBe(404);
  await db.updateTable("invoices").set({ status: "void" }).where("id", "=", invoice.id).execute();
  expect((await mail(invoice.id)).json().code).toBe("conflict");
});

test("every mail is listed with what became of it, by its address, template, state and days; so are jobs that wait", async () => {
  const about = { user_id: null, recipient: "List@example.com", language: "de", parameters: "{}", sent_at: null };
  const plant = async (template: string, changes: object = {}) =>
    (
      await product.db
        .insertInto("mails")
        .values({ ...about, template, key: randomUUID(), created_at: new Date(), ...changes })
        .returning("id")
        .executeTakeFirstOrThrow()
    ).id;
  const old = await plant("plan-ended", { sent_at: new Date(), created_at: new Date("2026-01-31T23:59:00Z") });
  const [waits, refused, gone] = [await plant("plan-ended"), await plant("plan-renewed"), await plant("plan-renewed")];
  await letter("send-mail", refused);
  await outcomes("dead-letters/discard", [await letter("send-mail", gone)]);
  const list = async (query: string) =>
    (await get(`mails?recipient=list@example.com&${query}`)).rows.map(({ id, state }: SentMailRow) => [id, state]);
  const all = [
    [gone, "discarded"],
    [refused, "refused"],
    [waits, "waiting"],
    [old, "sent"],
  ];
  expect(await list("")).toEqual(all);
  for (const [id, state] of all) expect(await list(`state=${state}`)).toEqual([[id, state]]);
  expect(await list("template=plan-renewed&order=asc")).toEqual([all[1], all[0]]);
  expect([await list("to=2026-01-31"), await list("from=2026-02-01&to=2026-02-02")]).toEqual([[all[3]], []]);
  expect((await get("mails?state=refused&template=plan-renewed")).rows).toMatchObject([{ id: refused, error: "550 refused" }]);
  const id = randomUUID();
  await product.db
    .insertInto("outbox")
    .values({ id, job: "read-invoices", payload: JSON.stringify({ userId: person.userId }), published_at: null })
    .execute();
  expect((await get("outbox?job=read-invoices")).rows).toMatchObject([{ id, job: "read-invoices", attempts: 0, failures: 0 }]);
});

test("every account is checked on request, which is shown while it is under way", async () => {
  expect((await needs()).checkingSince).toBeNull();
  expect((await act("findings/check-all", {})).statusCode).toBe(204);
  expect(await latest()).toEqual(entry("full_check.asked", {}));
  expect((await needs()).checkingSince).not.toBeNull();
});

test("a finding that somebody closed stays closed while the checks find the same, and comes back if it differs or was gone in between", async () => {
  const { db } = product;
  const found = { kind: "model_gone", subject: "model-x", payerId: null, details: { shutdownDate: null } } as const;
  const find = (details: FindingDetails = found.details) => recordFinding(db, { ...found, details }, null, new Date());
  const open = async () => (await needs()).findings.rows.map(({ id, kind, subject }) => ({ id, kind, subject }));
  const close = async () => act("findings/close", { findingId: (await open())[0]?.id });
  const it = [{ kind: found.kind, subject: found.subject }];
  await find();
  expect(await open()).toMatchObject(it);
  await close();
  await find();
  expect(await open()).toEqual([]);
  await find({ shutdownDate: "2027-01-01" });
  expect(await open()).toMatchObject(it);
  await close();
  await resolveSubjects(db, [found.kind], [found.subject], new Date());
  await find({ shutdownDate: "2027-01-01" });
  expect(await open()).toMatchObject(it);
  await close();
});

test("a finding that somebody closed is listed with who did it and why, and is opened again, once", async () => {
  const { db } = product;
  const payerId = await payerIdOf(db, person.userId);
  const found = { kind: "missing_grant", subject: "in_reopened", payerId, details: { invoice: "in_reopened" } } as const;
  await recordFinding(db, found, null, new Date());
  const idOf = async () => (await needs()).findings.rows.find(({ subject }) => subject === found.subject)?.id;
  const findingId = (await idOf()) ?? "";
  expect((await act("findings/reopen", { findingId })).json()).toMatchObject({ code: "conflict" });
  await act("findings/close", { findingId });
  const closed = async (): Promise<ClosedFindings["rows"]> => (await get("findings/closed")).rows;
  const whose = { userId: person.userId, email: person.email };
  const { kind, subject } = found;
  expect((await closed())[0]).toMatchObject({ id: findingId, kind, subject, by: admin.email, reason: "Looked at it", ...whose });

  const both = await Promise.all([1, 2].map(() => act("findings/reopen", { findingId })));
  expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([204, 409]);
  expect(await latest()).toEqual(entry("finding.reopened", { kind, subject }));
  expect([await idOf(), (await closed()).filter(({ id }) => id === findingId)]).toEqual([findingId, []]);
  // What a check settled is not opened by hand.
  await resolveSubjects(db, [kind], [subject], new Date());
  expect((await act("findings/reopen", { findingId })).statusCode).toBe(409);
  expect((await act("findings/reopen", { findingId: randomUUID() })).statusCode).toBe(404);
});
