/** What waits for the team and is put off until a day: out of sight until then, for everybody, and never longer than it may wait. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Needs } from "#contract/admin/needs.ts";
import type { AuditRow } from "#contract/admin/team.ts";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { mostPutOff, mostPutOffDays, putOffDays } from "#domain/needs.ts";
import { recordFinding } from "#server/features/findings/service.ts";
import { payerIdOf } from "#tests/support/payers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let product: AuthApp;
let ada: TestPerson;
let ben: TestPerson;
let person: TestPerson;
beforeAll(async () => {
  product = await createAuthApp();
  [ada, ben, person] = [
    await createPerson(product, product.db),
    await createPerson(product, product.db),
    await createPerson(product, product.db),
  ];
  await product.db.updateTable("users").set({ role: "admin" }).where("id", "in", [ada.userId, ben.userId]).execute();
});
afterAll(() => product.close());

const day = (days: number) =>
  addMilliseconds(new Date(), days * dayMs)
    .toISOString()
    .slice(0, 10);
const call = (who: TestPerson, url: string, payload?: object) =>
  product.app.inject({
    ...{ method: payload ? ("POST" as const) : ("GET" as const), url: `/api/admin/needs${url}` },
    ...{ headers: { authorization: `Bearer ${who.token}` }, ...(payload && { payload: { reason: "The bank answers then", ...payload } }) },
  });
const needs = async (): Promise<Needs> => (await call(ada, "")).json();
const putOff = async (): Promise<Needs> => (await call(ada, "?putOff=true")).json();
const latest = async () => {
  const headers = { authorization: `Bearer ${ada.token}` };
  const { rows } = (await product.app.inject({ url: "/api/admin/audit?limit=1", headers })).json<{ rows: AuditRow[] }>();
  return rows.map(({ action, details, reason, actorEmail, subjectEmail }) => ({ action, details, reason, actorEmail, subjectEmail }))[0];
};

async function finding(): Promise<{ kind: "findings"; entry: string; subject: string }> {
  const subject = `in_${randomUUID()}`;
  const payerId = await payerIdOf(product.db, person.userId);
  await recordFinding(product.db, { kind: "missing_grant", subject, payerId, details: {} }, null, new Date());
  const entry = (await needs()).findings.rows.find((row) => row.subject === subject)?.entry ?? "";
  return { kind: "findings", entry, subject };
}
const only = <Named extends { kind: string; entry: string }>({ kind, entry }: Named) => ({ kind, entry });
/** On the day it comes back. */
const comesBack = ({ entry }: { entry: string }) =>
  product.db.updateTable("put_off_needs").set({ until: new Date() }).where("entry", "=", entry).execute();
const shown = ({ findings }: Needs) => findings.rows.map(({ entry }) => entry);

test("an entry that is put off is among what was put off, with who did and why, until its day; then it waits again", async () => {
  const [one, other] = [await finding(), await finding()];
  expect((await call(ada, "/put-off", { ...only(one), until: day(3) })).statusCode).toBe(204);
  const entry = { list: "findings", entry: one.entry, until: day(3) };
  const by = { reason: "The bank answers then", actorEmail: ada.email };
  expect(await latest()).toEqual({ action: "need.put_off", details: entry, ...by, subjectEmail: person.email });
  const [waiting, later] = [await needs(), await putOff()];
  expect([shown(waiting), shown(later)]).toEqual([[other.entry], [one.entry]]);
  expect(later.putOff).toEqual([{ ...only(one), until: day(3), by: ada.email, reason: "The bank answers then" }]);
  expect(waiting.putOff).toEqual(later.putOff);

  await comesBack(one);
  expect([shown(await needs()), await putOff()]).toMatchObject([[one.entry, other.entry], { findings: { rows: [] }, putOff: [] }]);
  // Before the sweep has been there.
  expect((await call(ben, "/put-off", { ...only(one), until: day(1) })).statusCode).toBe(204);
  expect((await putOff()).putOff).toEqual([{ ...only(one), until: day(1), by: ben.email, reason: "The bank answers then" }]);
  expect((await call(ada, "/bring-back", only(one))).statusCode).toBe(204);
  expect(await latest()).toMatchObject({
    action: "need.brought_back",
    details: { list: "findings", entry: one.entry },
    ...by,
    subjectEmail: person.email,
  });
  expect([shown(await needs()).length, (await putOff()).putOff]).toEqual([2, []]);
});

test("of two colleagues who put it off or bring it back, the second is told; so is who puts off what does not wait", async () => {
  const one = await finding();
  const both = await Promise.all([
    call(ada, "/put-off", { ...only(one), until: day(2) }),
    call(ben, "/put-off", { ...only(one), until: day(4) }),
  ]);
  expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([204, 409]);
  const back = await Promise.all([call(ada, "/bring-back", only(one)), call(ben, "/bring-back", only(one))]);
  expect(back.map(({ statusCode }) => statusCode).sort()).toEqual([204, 409]);
  for (const entry of [
    { kind: "findings", entry: randomUUID() },
    { kind: "holds", entry: "no id" },
    { ...only(one), kind: "disputes" },
  ])
    expect((await call(ada, "/put-off", { ...entry, until: day(2) })).json()).toMatchObject({ code: "conflict" });
});

test("not until today, not for longer than a month, and nothing until it is too late for it", async () => {
  const one = await finding();
  for (const until of [day(-1), day(0), day(mostPutOffDays + 1), "soon"])
    expect((await call(ada, "/put-off", { ...only(one), until })).json(), until).toMatchObject({ code: "validation_failed" });
  expect((await call(ada, "/put-off", { ...only(one), until: day(mostPutOffDays) })).statusCode).toBe(204);

  const payerId = await payerIdOf(product.db, person.userId);
  const money = { billing_account_id: payerId, paid_cents: 1999, refunded_cents: 0, lost_cents: 0, disputed: true };
  const charge = { ...money, charge_id: "ch_disputed", version: 1, recorded_at: new Date() };
  const dueAt = addMilliseconds(new Date(), 2 * dayMs);
  await product.db
    .insertInto("charge_returns")
    .values({ ...charge, evidence_due_at: dueAt })
    .execute();
  const dispute = { kind: "disputes", entry: (await needs()).disputes.rows[0]?.entry ?? "" };
  expect((await call(ada, "/put-off", { ...dispute, until: day(3) })).json()).toMatchObject({ fields: [{ field: "until" }] });
  expect((await call(ada, "/put-off", { ...dispute, until: day(2) })).statusCode).toBe(204);
  expect((await needs()).disputes.rows).toEqual([]);
  // The bank wants it earlier.
  await product.db
    .updateTable("charge_returns")
    .set({ evidence_due_at: addMilliseconds(dueAt, -dayMs) })
    .where("charge_id", "=", "ch_disputed")
    .execute();
  expect((await needs()).disputes.rows).toMatchObject([{ id: "ch_disputed" }]);
  expect(putOffDays(new Date("2026-03-10T23:00:00Z"), "2026-03-10T23:30:00Z")).toBeUndefined();
});

test("only so much can be put off at a time", async () => {
  const one = await finding();
  const rows = Array.from({ length: mostPutOff }, () => ({
    kind: "findings" as const,
    entry: randomUUID(),
    user_id: null,
    put_off_by: null,
  }));
  const rest = { until: addMilliseconds(new Date(), dayMs), reason: "Full", created_at: new Date() };
  await product.db
    .insertInto("put_off_needs")
    .values(rows.map((row) => ({ ...row, ...rest })))
    .execute();
  expect((await call(ada, "/put-off", { ...only(one), until: day(1) })).json()).toMatchObject({ code: "conflict" });
  await product.db.deleteFrom("put_off_needs").where("reason", "=", "Full").execute();
  expect((await call(ada, "/put-off", { ...only(one), until: day(1) })).statusCode).toBe(204);
});

test("what is put off is shown again once something else is to be done about it, and each kind can be put off", async () => {
  const { db } = product;
  const one = await finding();
  expect((await call(ada, "/put-off", { ...only(one), until: day(9) })).statusCode).toBe(204);
  const payerId = await payerIdOf(db, person.userId);
  await recordFinding(
    db,
    { kind: "missing_grant", subject: one.subject, payerId, details: { invoiceId: "in_2" } as never },
    null,
    new Date(),
  );
  expect((await needs()).findings.rows.map(({ subject }) => subject)).toContain(one.subject);

  const letter = { payload: JSON.stringify({}), error: "550", attempts: 10, replayed_at: null };
  await db
    .insertInto("dead_letters")
    .values({ id: randomUUID(), job: "delete-file", ...letter })
    .execute();
  await sql`insert into contact_messages (idempotency_key, content_hash, email, name, subject, message, category, language, created_at)
    values (gen_random_uuid(), '\\x00', 'eve@example.com', 'Eve', 'Where are my credits?', 'Hello', 'support', 'en', now() - interval '3 days')`.execute(
    db,
  );
  const figures = { total_cents: 1999, unpaid_cents: 1999, refunded_cents: 0, status: "open" as const, failed: true, needs_action: false };
  const sold = { plan_key: null, billing_interval: null, pack_key: null, period_start: null, period_end: null };
  await db
    .insertInto("invoices")
    .values({
      id: "in_late",
      billing_account_id: payerId,
      number: null,
      stripe_subscription_id: null,
      ...figures,
      ...sold,
      issued_at: new Date(),
      updated_at: new Date(),
    })
    .execute();
  const waiting = await needs();
  for (const kind of ["deadLetters", "unanswered", "failedPayments"] as const) {
    const [row] = waiting[kind].rows;
    expect((await call(ada, "/put-off", { kind, entry: row?.entry, until: day(1) })).statusCode, kind).toBe(204);
    expect([(await needs())[kind].rows, (await putOff())[kind].rows.map(({ entry }) => entry)], kind).toEqual([[], [row?.entry]]);
  }
  // The bank wants the cardholder now.
  await db.updateTable("invoices").set({ needs_action: true }).where("id", "=", "in_late").execute();
  expect((await needs()).failedPayments.rows).toMatchObject([{ id: "in_late" }]);
});

test("support reads that something was put off, and not of which invoice", async () => {
  const support = await createPerson(product, product.db);
  await product.db.updateTable("users").set({ role: "support" }).where("id", "=", support.userId).execute();
  const headers = { authorization: `Bearer ${support.token}` };
  const { rows } = (await product.app.inject({ url: "/api/admin/audit?action=need.put_off", headers })).json<{ rows: AuditRow[] }>();
  expect(rows.length).toBeGreaterThan(2);
  expect(rows.flatMap(({ details }) => Object.keys(details))).not.toContain("entry");
});

test("for everybody else there is nothing", async () => {
  for (const url of ["/put-off", "/bring-back"]) {
    const body = { kind: "findings", entry: "1", ...(url === "/put-off" && { until: day(1) }) };
    expect((await call(person, url, body)).statusCode, url).toBe(404);
  }
});
