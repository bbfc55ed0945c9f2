/** The start and the end of an answer that is a clip. In between it is looked after by a worker (clip-runner.ts). */
import { sql } from "kysely";
import { DomainError } from "#domain/errors.ts";
import type { FilterReason } from "#domain/filter-reasons.ts";
import type { ClipPart } from "../../contract/generations/media.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { GenerationRow } from "../../db/types-answers.ts";
import type { Deps } from "../../deps.ts";
import { formatEvent } from "../../http/event-stream.ts";
import { announce, announceToMembers } from "../../http/live-events.ts";
import { readEntitlement } from "../billing/entitlement.ts";
import { deleteJob, insertJob } from "./clip-queue.ts";
import type { EndRow } from "./ends.ts";
import { callEnd } from "./ends.ts";
import type { StartRow } from "./starts.ts";

/**
 * Writes how a clip was asked for, and its job. `prompt` is kept with the job because an answer without a conversation has no question. Throws
 * `too_many_answers`.
 */
export async function startClip(trx: Trx, start: StartRow, prompt: string): Promise<void> {
  const { id, userId, options, turn, credits, modelId, trimmedMessages } = start;
  const { clip } = options ?? {};
  await trx
    .updateTable("generations")
    .set({ options: JSON.stringify({ clip }) })
    .where("id", "=", id)
    .execute();
  if (turn && clip?.reference !== undefined)
    await trx
      .updateTable("files")
      .set({ conversation_id: turn.conversationId })
      .where("id", "=", clip.reference)
      .where("user_id", "=", userId)
      .where("kind", "=", "attachment")
      .where("conversation_id", "is", null)
      .execute();
  const place = turn && { conversationId: turn.conversationId, questionId: turn.questionId, answerId: turn.answerId };
  const first = { generationId: id, turn: place, modelId, heldCredits: credits, trimmedMessages, ...(clip && { clip }) };
  if (!(await insertJob(trx, { id, userId, prompt, firstFrame: formatEvent(1, "start", first) })))
    throw new DomainError("too_many_answers", "You have many clips under way. Wait for one to end, or stop one that waits", {
      retryAfterSeconds: 30,
    });
}

export interface ClipEnd {
  status: EndRow["status"];
  failureCode: string | null;
  filterReason?: FilterReason | null;
  clip: ClipPart | null;
  costMicroDollars: number | null;
}

/**
 * Ends the answer with its job, in one transaction: what is stored, charged and told agree. `owner` is the process that looks after the job; null
 * for a job that waits. Returns false if it is another process's, or has ended. With `lockWaitMs`, throws an outage (`lockNotAvailable`) once it has
 * waited that long for the job or the wallet.
 */
export async function endClip(deps: Deps, id: string, owner: string | null, end: ClipEnd, lockWaitMs?: number): Promise<boolean> {
  const now = deps.clock.now();
  const found = await selectOwner(deps.db, id);
  const kinds = found?.user_id ? (await readEntitlement(deps.db, found.user_id, now)).kinds(true) : [];
  const { status, failureCode, filterReason = null, clip, costMicroDollars } = end;
  const row = await inTransaction(deps.db, async (trx) => {
    if (lockWaitMs !== undefined) await sql`select set_config('lock_timeout', ${`${lockWaitMs}ms`}, true)`.execute(trx);
    const events = await deleteJob(trx, id, owner);
    if (events === undefined || !found) return undefined;
    const number = events + 1;
    const frames = clip && formatEvent(number, "clip", { clip });
    return callEnd(trx, {
      id,
      // The lease of such an answer ends as it begins, so any process may end it that has deleted the job.
      owner: null,
      status,
      failureCode,
      filterReason,
      cutShort: false,
      chargedCredits: status === "completed" ? found.quoted_credits : 0,
      parts: clip ? [clip] : [],
      promptTokens: null,
      completionTokens: null,
      costMicroDollars,
      lastFrames: frames === null ? undefined : { generationId: id, firstEvent: number, lastEvent: number, frames },
      kinds,
      now,
    });
  });
  if (!row) return false;
  if (row.user_id) await announce(deps, row.user_id, "generations");
  await announceToMembers(deps, row.payer_id, "wallets");
  return true;
}

export async function selectOwner(executor: Executor, id: string): Promise<GenerationRow | undefined> {
  return executor.selectFrom("generations").selectAll().where("id", "=", id).executeTakeFirst();
}
