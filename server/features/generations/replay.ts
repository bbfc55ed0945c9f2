/** Sends an answer's events again: from memory or the log while they are kept, later from the stored output. */
import { addMilliseconds } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { answerLogReadableMs } from "#domain/periods.ts";
import type { GenerationRow } from "../../db/types-answers.ts";
import type { Deps } from "../../deps.ts";
import { Feed, formatEvent } from "../../http/event-stream.ts";
import { fromStoredOptions } from "./answer-options.ts";
import type { Answers } from "./answers.ts";
import { selectParts, selectTurn } from "./queries.ts";
import { toReceipt } from "./receipt.ts";

/** Makes a feed from the stored output: the start, the whole text in one event, its sources in another, the receipt. */
async function retell(deps: Deps, row: GenerationRow): Promise<Feed> {
  const feed = new Feed();
  feed.push("start", {
    generationId: row.id,
    turn: (await selectTurn(deps.db, row.id)) ?? null,
    modelId: row.model_id,
    heldCredits: row.quoted_credits,
    trimmedMessages: row.trimmed_messages,
    ...fromStoredOptions(row.options),
  });
  for (const [place, part] of ((await selectParts(deps.db, [row.id])).get(row.id) ?? []).entries()) {
    if (part.kind === "text") feed.push("delta", { text: part.text });
    else if (part.kind === "sources") feed.push("sources", { sources: part.sources });
    else if (part.kind === "clip") feed.push("clip", { clip: part });
    else if (part.kind === "segments") feed.push("segments", { segments: part.segments });
    else if (part.kind === "sound") feed.push("sound", { sound: part });
    else feed.push("picture", { place, picture: part });
  }
  const id = feed.frames.length + 1;
  feed.close({ id, frame: formatEvent(id, "receipt", toReceipt(row)) });
  return feed;
}

/**
 * Returns the answer's events for a reader who has those up to `after`. Throws `answer_gone` if the answer was deleted. Also throws it if the
 * events are no longer kept and the reader has some of them, because we no longer know where in the text they ended.
 */
export async function replay(deps: Deps, answers: Answers, row: GenerationRow, after: number): Promise<Feed> {
  const { erased_at: erasedAt, ended_at: endedAt } = row;
  if (erasedAt !== null) throw new DomainError("answer_gone", "This answer was deleted. Nothing more was charged");
  if (endedAt === null || endedAt > addMilliseconds(deps.clock.now(), -answerLogReadableMs)) return answers.follow(row.id);
  if (after > 0) throw new DomainError("answer_gone", "The events of this answer are no longer kept. Read its text");
  return retell(deps, row);
}
