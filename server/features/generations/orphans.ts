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

/** False: it ended otherwise meanwhile. */
async function endOrphan(deps: Deps, { id, user_id: userId }: { id: string; user_id: string | null }): Promise<boolean> {
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
  if (row?.failure_code !== "interrupted") return false;
  if (userId) await announce(deps, userId);
  return true;
}

/**
 * Ends the answers whose process is gone (its lease ran out): the text so far is kept, the hold released, the answer
 * failed as `interrupted`, and the person told. Returns how many. Any number of processes may do it at once. One that
 * fails is logged and keeps none of the others.
 */
export async function endOrphanedAnswers(deps: Deps): Promise<number> {
  let ended = 0;
  for (const orphan of await queries.selectOrphans(deps.db, new Date(), batchSize)) {
    try {
      ended += (await endOrphan(deps, orphan)) ? 1 : 0;
    } catch (error) {
      deps.log.error({ err: error, generation: orphan.id }, "an answer left behind could not be ended");
    }
  }
  return ended;
}
