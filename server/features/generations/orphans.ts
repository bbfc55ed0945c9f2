import { createParser } from "eventsource-parser";
import type { DeltaEvent, Part, PictureEvent, SourcesEvent } from "../../contract/generations/generations.ts";
import type { SegmentsEvent, SoundEvent } from "../../contract/generations/sounds.ts";
import type { Deps } from "../../deps.ts";
import { announce, announceToMembers } from "../../http/live-events.ts";
import { sweepPage, sweepRows } from "../../queue/sweep-rows.ts";
import { readEntitlement } from "../billing/entitlement.ts";
import { lostEventsGap } from "./answers.ts";
import { callEnd } from "./ends.ts";
import type { LogBatch } from "./queries.ts";
import * as queries from "./queries.ts";
import { Output } from "./running-answer.ts";

/** The output of an answer that is in its log. */
function outputOf(batches: readonly LogBatch[]): Part[] {
  const output = new Output();
  const parser = createParser({
    onEvent({ event, data }) {
      if (event === "delta") output.text += (JSON.parse(data) as DeltaEvent).text;
      if (event === "segments") output.segments.push(...(JSON.parse(data) as SegmentsEvent).segments);
      if (event === "sound") output.sound = (JSON.parse(data) as SoundEvent).sound;
      if (event === "sources") output.sources.push(...(JSON.parse(data) as SourcesEvent).sources);
      if (event === "picture") {
        const { place, picture } = JSON.parse(data) as PictureEvent;
        output.pictures[place] = picture;
      }
    },
  });
  for (const { frames } of batches) parser.feed(frames);
  return output.parts;
}

/** Returns false if the answer has ended in another way meanwhile. */
async function endOrphan(deps: Deps, { id, user_id: userId }: { id: string; user_id: string | null }): Promise<boolean> {
  const log = await queries.selectLog(deps.db, new Map([[id, 0]]));
  const gap = (log.at(-1)?.lastEvent ?? 0) + lostEventsGap;
  const now = deps.clock.now();
  // If the account is gone, nobody reads the receipt.
  const kinds = userId ? (await readEntitlement(deps.db, userId, now)).kinds(true) : [];
  const row = await callEnd(deps.db, {
    id,
    owner: null,
    status: "failed",
    failureCode: "interrupted",
    cutShort: false,
    chargedCredits: 0,
    parts: outputOf(log),
    promptTokens: null,
    completionTokens: null,
    costMicroDollars: null,
    lastFrames: { generationId: id, firstEvent: gap, lastEvent: gap, frames: "" },
    kinds,
    now,
  });
  if (row?.failure_code !== "interrupted") return false;
  await announce(deps, userId, "generations");
  await announceToMembers(deps, row.payer_id, "wallets");
  return true;
}

/**
 * Ends answers whose lease has run out because their process died: keeps the text so far, releases the hold, marks the answer as failed
 * (`interrupted`) and notifies the person. Returns how many. Several processes may do this at once.
 */
export async function endOrphanedAnswers(deps: Deps, signal?: AbortSignal): Promise<number> {
  return sweepRows(
    deps,
    "orphaned-answers",
    () => queries.selectOrphans(deps.db, sweepPage),
    ({ id }) => id,
    (orphan) => endOrphan(deps, orphan),
    signal,
  );
}
