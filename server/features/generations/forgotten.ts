/**
 * An answer's start does not wait for the disk (migrations/0016): where PostgreSQL dies before the next flush of its log,
 * question and hold are forgotten together. The process that answers still has them and writes them down again, so that the
 * answer is stored and charged like any other.
 */
import { DomainError } from "#domain/errors.ts";
import type { Db } from "../../db/database.ts";
import { inTransaction } from "../../db/transaction.ts";
import * as queries from "./queries.ts";
import type { AnswerStart } from "./running-answer.ts";

/** Returns false, and writes nothing, if the start is refused this time. `holdMs` is the rest of the hold's time. */
export async function writeStartAgain(db: Db, start: AnswerStart, holdMs: number): Promise<boolean> {
  const { id, row } = start;
  try {
    await inTransaction(db, async (trx) => {
      const { outcome, generation_id } = await queries.callStart(trx, { ...row, holdMs });
      // Another call of this process has written it again meanwhile.
      const known = outcome === "known" && generation_id === id;
      if (outcome !== "created" && !known) throw new DomainError("conflict", `The start was answered with ${outcome}`);
    });
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}
