/** What waits for the team can be put off until a day, for the whole team (docs/decisions/0111). */
import { sql } from "kysely";
import { DomainError } from "#domain/errors.ts";
import type { NeedKind } from "#domain/needs.ts";
import { mostPutOff, needSubject, putOffDays } from "#domain/needs.ts";
import type { PutOffNeed } from "../../contract/admin-needs.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Clerk } from "../auth/team.ts";
import type { ListDeps } from "./needs-lists.ts";
import { needLists } from "./needs-lists.ts";

export interface Entry {
  kind: NeedKind;
  subject: string;
}

/** What is put off now, what comes back first at the top. */
export async function readPutOff(executor: Executor, now: Date): Promise<PutOffNeed[]> {
  const { rows } =
    await sql<PutOffNeed>`select p.kind, p.subject, to_char(p.until at time zone 'UTC', 'YYYY-MM-DD') as until, i.subject as by, p.reason
    from put_off_needs p left join identities i on i.user_id = p.put_off_by and i.kind = 'email'
    where p.until > ${now} order by p.until, p.kind, p.subject limit ${mostPutOff}`.execute(executor);
  return rows;
}

interface Waiting {
  id: string;
  userId?: string | null;
  dueAt?: string | null;
}

/** The entry as the panel shows it, or undefined if it does not wait any more. */
async function findWaiting(deps: ListDeps, { kind, subject }: Entry, now: Date): Promise<Waiting | undefined> {
  const subjects = (await readPutOff(deps.db, now)).filter((entry) => entry.kind === kind).map((entry) => entry.subject);
  const { rows }: { rows: Waiting[] } = await needLists[kind](deps, { isPutOff: false, subjects });
  return rows.find((row) => needSubject(row) === subject);
}

/**
 * Throws `validation_failed` if the day is not one of those until which it may be put off, and `conflict` if it does not wait, a colleague has put
 * it off, or too much is put off.
 */
export async function putOffAs(deps: ListDeps, clerk: Clerk, entry: Entry & { until: string }, reason: string): Promise<void> {
  const { kind, subject, until } = entry;
  const now = deps.clock.now();
  const waiting = await findWaiting(deps, entry, now);
  if (!waiting) throw new DomainError("conflict", "This does not wait any more");
  const days = putOffDays(now, waiting.dueAt ?? null);
  if (!days || until < days.first || until > days.last) {
    const message = days
      ? `It can be put off until ${days.first} at the earliest and ${days.last} at the latest`
      : "It is due and can't be put off";
    throw new DomainError("validation_failed", message, { fields: [{ field: "until", message }] });
  }
  await inTransaction(deps.db, async (trx) => {
    const values = { until: new Date(until), put_off_by: clerk.userId, reason, created_at: now };
    const { numInsertedOrUpdatedRows: done } = await trx
      .insertInto("put_off_needs")
      .values({ kind, subject, ...values })
      // It has come back, and the sweep has not been there yet.
      .onConflict((put) => put.columns(["kind", "subject"]).doUpdateSet(values).where("put_off_needs.until", "<=", now))
      .executeTakeFirstOrThrow();
    if (done === 0n) throw new DomainError("conflict", "A colleague has put this off");
    const { count } = await trx
      .selectFrom("put_off_needs")
      .select((e) => e.fn.countAll<string>().as("count"))
      .where("until", ">", now)
      .executeTakeFirstOrThrow();
    if (Number(count) > mostPutOff) throw new DomainError("conflict", `At most ${mostPutOff} things can be put off`);
    const act = { actor: clerk.userId, subject: waiting.userId ?? null, network: clerk.network, reason };
    await recordAct(trx, { ...act, action: "need.put_off", details: { list: kind, entry: subject, until } });
  });
}

/** Throws `conflict` if it is not put off any more. */
export async function bringBackAs(deps: ListDeps, clerk: Clerk, { kind, subject }: Entry, reason: string): Promise<void> {
  const now = deps.clock.now();
  await inTransaction(deps.db, async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom("put_off_needs")
      .where("kind", "=", kind)
      .where("subject", "=", subject)
      .where("until", ">", now)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw new DomainError("conflict", "This is not put off any more");
    const act = { actor: clerk.userId, subject: null, network: clerk.network, reason };
    await recordAct(trx, { ...act, action: "need.brought_back", details: { list: kind, entry: subject } });
  });
}
