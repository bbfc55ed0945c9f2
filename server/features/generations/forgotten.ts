/**
 * The commit of an answer's start does not wait for the disk (migrations/0016). If PostgreSQL crashes before it next flushes its log, the
 * question and its hold are lost together. The process that writes the answer still has both and writes them again, so that the answer
 * is stored and charged like any other.
 */
import { DomainError } from "#domain/errors.ts";
import type { Db } from "../../db/database.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { AnswerStart } from "./running-answer.ts";
import { callStart } from "./starts.ts";

/** Returns false and writes nothing if the start is now refused. `holdMs` is how long the hold may still last. */
export async function writeStartAgain(db: Db, start: AnswerStart, holdMs: number): Promise<boolean> {
  const { id, row } = start;
  try {
    await inTransaction(db, async (trx) => {
      const { outcome, generation_id } = await callStart(trx, { ...row, holdMs });
      // Another call in this process has already written it again.
      const known = outcome === "known" && generation_id === id;
      if (outcome !== "created" && !known) throw new DomainError("conflict", `The start was answered with ${outcome}`);
    });
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}
