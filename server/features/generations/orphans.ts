import type { Deps } from "../../deps.ts";
import { announce, lostEventsGap } from "./answers.ts";
import { splitFrames } from "./log-followers.ts";
import type { LogBatch } from "./queries.ts";
import * as queries from "./queries.ts";

const batchSize = 200;

/** The text of an answer as far as its log tells it. */
function textOf(batches: readonly LogBatch[]): string {
  return batches
    .flatMap((batch) => splitFrames(batch.frames))
    .filter((frame) => /^event: delta$/m.test(frame))
    .map((frame) => (JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? "{}") as { text?: string }).text ?? "")
    .join("");
}

/**
 * Ends the answers whose process is gone (its lease ran out): the text so far is kept, the hold released, the answer
 * failed as `interrupted`, and the person told. Returns how many. Any number of processes may do it at once.
 */
export async function endOrphanedAnswers(deps: Deps): Promise<number> {
  const orphans = await queries.selectOrphans(deps.db, new Date(), batchSize);
  let ended = 0;
  for (const { id, user_id: userId } of orphans) {
    const log = await queries.selectLog(deps.db, new Map([[id, 0]]));
    const gap = (log.at(-1)?.lastEvent ?? 0) + lostEventsGap;
    const row = await queries.callEnd(deps.db, {
      id,
      owner: null,
      status: "failed",
      failureCode: "interrupted",
      chargedCredits: 0,
      text: textOf(log),
      promptTokens: null,
      completionTokens: null,
      lastFrames: { generationId: id, firstEvent: gap, lastEvent: gap, frames: "" },
      now: deps.clock.now(),
      wallNow: new Date(),
    });
    if (row?.failure_code !== "interrupted") continue;
    ended += 1;
    if (userId) await announce(deps, userId);
  }
  return ended;
}
