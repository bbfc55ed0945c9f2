/** An answer's events, told again: from memory or the log while they are kept, and from what was stored after that. */
import { addMilliseconds } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { answerLogReadableMs } from "#domain/periods.ts";
import type { GenerationRow } from "../../db/types-answers.ts";
import type { Deps } from "../../deps.ts";
import { Feed, formatEvent } from "../../http/event-stream.ts";
import type { Answers } from "./answers.ts";
import { selectAnswerText } from "./queries.ts";
import { toReceipt } from "./receipt.ts";

/** Start, the whole text at once, receipt. */
async function retell(deps: Deps, row: GenerationRow, conversationId: string): Promise<Feed> {
  const feed = new Feed();
  feed.push("start", {
    generationId: row.id,
    conversationId,
    modelId: row.model_id,
    heldCredits: row.quoted_credits,
    trimmedMessages: row.trimmed_messages,
  });
  const text = await selectAnswerText(deps.db, row.id);
  if (text !== undefined) feed.push("delta", { text });
  const id = feed.frames.length + 1;
  feed.close({ id, frame: formatEvent(id, "receipt", toReceipt(row)) });
  return feed;
}

/**
 * For a reader who has the events up to `after`. Throws `answer_gone` when the answer was deleted, and when its events are
 * no longer kept and the reader has some of them: where in the text those ended, nobody knows any more.
 */
export async function replay(deps: Deps, answers: Answers, row: GenerationRow, after: number): Promise<Feed> {
  const { conversation_id: conversationId, ended_at: endedAt } = row;
  if (conversationId === null)
    throw new DomainError("answer_gone", "This answer was deleted with its conversation. Nothing more was charged");
  if (endedAt === null || endedAt > addMilliseconds(deps.clock.now(), -answerLogReadableMs)) return answers.follow(row.id);
  if (after > 0) throw new DomainError("answer_gone", "The events of this answer are no longer kept. Its text is in its conversation");
  return retell(deps, row, conversationId);
}
