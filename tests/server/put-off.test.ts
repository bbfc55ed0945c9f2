/** What waits for the team and is put off until a day: out of sight until then, for everybody, and never longer than it may wait. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuditRow } from "#contract/admin.ts";
import type { Needs } from "#contract/admin-needs.ts";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { mostPutOff, mostPutOffDays, needSubject, putOffDays } from "#domain/needs.ts";
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

async function finding(): Promise<{ kind: "findings"; subject: string }> {
  const subject = `in_${randomUUID()}`;
  const payerId = await payerIdOf(product.db, person.userId);
  await recordFinding(product.db, { kind: "missing_grant", subject, payerId, details: {} }, null, new Date());
  const id = (await needs()).findings.rows.find((row) => row.subject === subject)?.id ?? "";
  return { kind: "findings", subject: id };
}
/** On the day it comes back. */
const comesBack = ({ subject }: { subject: string }) =>
  product.db.updateTable("put_off_needs").set({ until: new Date() }).where("subject", "=", subject).execute();
const shown = ({ findings }: Needs) => findings.rows.map(({ id }) => id);

test("an entry that is put off is among what was put off, with who did and why, until its day; then it waits again", async () => {
  const [one, other] = [await finding(), await finding()];
  expect((await call(ada, "/put-off", { ...one, until: day(3) })).statusCode).toBe(204);
  const entry = { list: "findings", entry: one.subject, until: day(3) };
  const by = { reason: "The bank answers then", actorEmail: ada.email };
  expect(await latest()).toEqual({ action: "need.put_off", details: entry, ...by, subjectEmail: person.email });
  const [waiting, later] = [await needs(), await putOff()];
  expect([shown(waiting), shown(later)]).toEqual([[other.subject], [one.subject]]);
  expect(later.putOff).toEqual([{ ...one, until: day(3), by: ada.email, reason: "The bank answers then" }]);
  expect(waiting.putOff).toEqual(later.putOff);

  await comesBack(one);
  expect([shown(await needs()), await putOff()]).toMatchObject([[one.subject, other.subject], { findings: { rows: [] }, putOff: [] }]);
  // Before the sweep has been there.
  expect((await call(ben, "/put-off", { ...one, until: day(1) })).statusCode).toBe(204);
  expect((await putOff()).putOff).toEqual([{ ...one, until: day(1), by: ben.email, reason: "The bank answers then" }]);
  expect((await call(ada, "/bring-back", one)).statusCode).toBe(204);
  expect(await latest()).toMatchObject({ action: "need.brought_back", details: { list: "findings", entry: one.subject }, ...by });
  expect([shown(await needs()).length, (await putOff()).putOff]).toEqual([2, []]);
});

test("of two colleagues who put it off or bring it back, the second is told; so is who puts off what does not wait", async () => {
  const one = await finding();
  const both = await Promise.all([call(ada, "/put-off", { ...one, until: day(2) }), call(ben, "/put-off", { ...one, until: day(4) })]);
  expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([204, 409]);
  const back = await Promise.all([call(ada, "/bring-back", one), call(ben, "/bring-back", one)]);
  expect(back.map(({ statusCode }) => statusCode).sort()).toEqual([204, 409]);
  for (const entry of [
    { kind: "findings", subject: randomUUID() },
    { kind: "holds", subject: "no id" },
    { ...one, kind: "disputes" },
  ])
    expect((await call(ada, "/put-off", { ...entry, until: day(2) })).json()).toMatchObject({ code: "conflict" });
});

test("not until today, not for longer than a month, and nothing until it is too late for it", async () => {
  const one = await finding();
  for (const until of [day(-1), day(0), day(mostPutOffDays + 1), "soon"])
    expect((await call(ada, "/put-off", { ...one, until })).json(), until).toMatchObject({ code: "validation_failed" });
  expect((await call(ada, "/put-off", { ...one, until: day(mostPutOffDays) })).statusCode).toBe(204);

  const payerId = await payerIdOf(product.db, person.userId);
  const money = { billing_account_id: payerId, paid_cents: 1999, refunded_cents: 0, lost_cents: 0, disputed: true };
  const charge = { ...money, charge_id: "ch_disputed", version: 1, recorded_at: new Date() };
  const dueAt = addMilliseconds(new Date(), 2 * dayMs);
  await product.db
    .insertInto("charge_returns")
    .values({ ...charge, evidence_due_at: dueAt })
    .execute();
  const dispute = { kind: "disputes", subject: "ch_disputed" };
  expect((await call(ada, "/put-off", { ...dispute, until: day(3) })).json()).toMatchObject({ fields: [{ field: "until" }] });
  expect((await call(ada, "/put-off", { ...dispute, until: day(2) })).statusCode).toBe(204);
  expect(putOffDays(new Date("2026-03-10T23:00:00Z"), "2026-03-10T23:30:00Z")).toBeUndefined();
});

test("only so much can be put off at a time", async () => {
  const one = await finding();
  const rows = Array.from({ length: mostPutOff }, () => ({
    kind: "findings" as const,
    subject: randomUUID(),
    put_off_by: null,
  }));
  const rest = { until: addMilliseconds(new Date(), dayMs), reason: "Full", created_at: new Date() };
  await product.db
    .insertInto("put_off_needs")
    .values(rows.map((row) => ({ ...row, ...rest })))
    .execute();
  expect((await call(ada, "/put-off", { ...one, until: day(1) })).json()).toMatchObject({ code: "conflict" });
  await product.db.deleteFrom("put_off_needs").where("reason", "=", "Full").execute();
  expect((await call(ada, "/put-off", { ...one, until: day(1) })).statusCode).toBe(204);
});

test("what is to be done about a model or a transfer is part of which entry it is", () => {
  expect(needSubject({ id: "m", why: "failing" })).not.toBe(needSubject({ id: "m", why: "ending" }));
  expect(needSubject({ id: "t", side: "return" })).not.toBe(needSubject({ id: "t", side: "claim" }));
});

test("for everybody else there is nothing", async () => {
  for (const url of ["/put-off", "/bring-back"]) {
    const body = { kind: "findings", subject: "1", ...(url === "/put-off" && { until: day(1) }) };
    expect((await call(person, url, body)).statusCode, url).toBe(404);
  }
});
