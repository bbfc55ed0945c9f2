/** What waits for the team can be put off until a day, for the whole team (docs/decisions/0111). */
import { sql } from "kysely";
import { DomainError } from "#domain/errors.ts";
import type { NeedKind } from "#domain/needs.ts";
import { mostPutOff, putOffDays } from "#domain/needs.ts";
import type { PutOffNeed } from "../../contract/admin/needs.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Clerk } from "../team/service.ts";
import type { ListDeps } from "./needs-lists.ts";
import { needLists } from "./needs-lists.ts";

export interface Entry {
  kind: NeedKind;
  entry: string;
}

/** The entries that are put off now. The one that comes back first is at the top. */
export async function readPutOff(executor: Executor, now: Date): Promise<PutOffNeed[]> {
  const { rows } =
    await sql<PutOffNeed>`select p.kind, p.entry, to_char(p.until at time zone 'UTC', 'YYYY-MM-DD') as until, i.subject as by, p.reason
    from put_off_needs p left join identities i on i.user_id = p.put_off_by and i.kind = 'email'
    where p.until > ${now} order by p.until, p.kind, p.entry limit ${mostPutOff}`.execute(executor);
  return rows;
}

/** The entry as its list has it, whether it was put off or not; undefined if it does not wait any more. */
async function findWaiting(deps: ListDeps, { kind, entry }: Entry) {
  const { rows }: { rows: { userId?: string | null; dueBy: string | null }[] } = await needLists[kind](deps, {
    isPutOff: true,
    entries: [entry],
  });
  return rows[0];
}

/** Lets nobody else put anything off until the transaction ends, so that of two at the same moment the second counts the first. */
async function refuseTooMany(trx: Trx, now: Date): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('put_off_needs', 0))`.execute(trx);
  const { count } = await trx
    .selectFrom("put_off_needs")
    .select((e) => e.fn.countAll<string>().as("count"))
    .where("until", ">", now)
    .executeTakeFirstOrThrow();
  if (Number(count) >= mostPutOff) throw new DomainError("conflict", `At most ${mostPutOff} things can be put off`);
}

/**
 * Throws `validation_failed` if the day is not one of those until which it may be put off, and `conflict` if it does not wait, a colleague has put
 * it off, or too much is put off.
 */
export async function putOffAs(deps: ListDeps, clerk: Clerk, asked: Entry & { until: string }, reason: string): Promise<void> {
  const { kind, entry, until } = asked;
  const now = deps.clock.now();
  const waiting = await findWaiting(deps, asked);
  if (!waiting) throw new DomainError("conflict", "This does not wait any more");
  const days = putOffDays(now, waiting.dueBy);
  if (!days || until < days.first || until > days.last) {
    const message = days
      ? `It can be put off until ${days.first} at the earliest and ${days.last} at the latest`
      : "It is due and can't be put off";
    throw new DomainError("validation_failed", message, { fields: [{ field: "until", message }] });
  }
  const userId = waiting.userId ?? null;
  await inTransaction(deps.db, async (trx) => {
    await refuseTooMany(trx, now);
    const values = { user_id: userId, until: new Date(until), put_off_by: clerk.userId, reason, created_at: now };
    const { numInsertedOrUpdatedRows: done } = await trx
      .insertInto("put_off_needs")
      .values({ kind, entry, ...values })
      // The entry is shown again, but the sweep has not deleted its row yet.
      .onConflict((put) => put.columns(["kind", "entry"]).doUpdateSet(values).where("put_off_needs.until", "<=", now))
      .executeTakeFirstOrThrow();
    if (done === 0n) throw new DomainError("conflict", "A colleague has put this off");
    const act = { actor: clerk.userId, subject: userId, network: clerk.network, reason };
    await recordAct(trx, { ...act, action: "need.put_off", details: { list: kind, entry, until } });
  });
}

/** Throws `conflict` if it is not put off any more. */
export async function bringBackAs(deps: ListDeps, clerk: Clerk, { kind, entry }: Entry, reason: string): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const deleted = await trx
      .deleteFrom("put_off_needs")
      .where("kind", "=", kind)
      .where("entry", "=", entry)
      .where("until", ">", deps.clock.now())
      .returning("user_id")
      .executeTakeFirst();
    if (!deleted) throw new DomainError("conflict", "This is not put off any more");
    const act = { actor: clerk.userId, subject: deleted.user_id, network: clerk.network, reason };
    await recordAct(trx, { ...act, action: "need.brought_back", details: { list: kind, entry } });
  });
}
