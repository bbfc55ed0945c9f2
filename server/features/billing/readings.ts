/**
 * Objects are read from Stripe outside any transaction and written in a short one. Every write raises the object's version (table
 * `stripe_objects`) by one. If the version has changed between the reading and the write, Stripe is asked again, so that an older
 * response never overwrites a newer one.
 */
import { sql } from "kysely";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { TakenElsewhere } from "../../failures.ts";

const attempts = 4;

/** The data that a reading was based on has changed since. Nothing is written, and Stripe is asked again. */
export class OutdatedReading extends Error {
  override readonly name = "OutdatedReading";
}

async function selectVersion(executor: Executor, objectId: string): Promise<number> {
  const row = await executor.selectFrom("stripe_objects").select("version").where("id", "=", objectId).executeTakeFirst();
  return row?.version ?? 0;
}

/** Locks the version's row until the transaction ends. Throws OutdatedReading if the version is not `known` any more. */
async function raiseVersion(trx: Trx, objectId: string, known: number): Promise<void> {
  const result = await sql`insert into stripe_objects as current (id, version) values (${objectId}, ${known + 1})
    on conflict (id) do update set version = excluded.version where current.version = ${known}`.execute(trx);
  if (result.numAffectedRows !== 1n) throw new OutdatedReading(`${objectId} was written meanwhile`);
}

/**
 * Writes what `read` finds at Stripe. `read` runs outside any transaction, `write` in one, where Stripe can't be called. Returns
 * undefined if `read` found nothing of ours, or if another process has written a reading that began after this one. Throws
 * TakenElsewhere if the reading was outdated at every try; the job is then tried again later.
 */
export async function writeReading<Reading, Result>(
  deps: Pick<Deps, "db">,
  objectId: string,
  read: () => Promise<Reading | undefined>,
  write: (trx: Trx, reading: Reading) => Promise<Result>,
): Promise<Result | undefined> {
  const first = await selectVersion(deps.db, objectId);
  let known = first;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const reading = await read();
    if (reading === undefined) return undefined;
    try {
      return await inTransaction(deps.db, async (trx) => {
        await raiseVersion(trx, objectId, known);
        return write(trx, reading);
      });
    } catch (error) {
      if (!(error instanceof OutdatedReading)) throw error;
    }
    known = await selectVersion(deps.db, objectId);
    // The process that wrote the second version asked Stripe after the first was written, so after we began.
    if (known > first + 1) return undefined;
  }
  throw new TakenElsewhere(`${objectId} is being written by others`);
}

/** Returns those of `objectIds` that are recorded as duplicates, each with the subscription it duplicates. */
export async function selectDuplicates(executor: Executor, objectIds: readonly string[]): Promise<Map<string, string>> {
  if (objectIds.length === 0) return new Map();
  const rows = await executor
    .selectFrom("stripe_objects")
    .select(["id", "duplicate_of"])
    .where("id", "in", objectIds)
    .where("duplicate_of", "is not", null)
    .execute();
  return new Map(rows.flatMap(({ id, duplicate_of }) => (duplicate_of === null ? [] : [[id, duplicate_of] as const])));
}

/** Call it in the transaction that raised the subscription's version. */
export async function recordDuplicate(trx: Trx, subscriptionId: string, doubled: string): Promise<void> {
  await trx.updateTable("stripe_objects").set({ duplicate_of: doubled }).where("id", "=", subscriptionId).execute();
}
