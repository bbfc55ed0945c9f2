/** Asks the model for what the answer is to be: words, pictures, a transcript or speech. */
import { parametersOf } from "#domain/model-parameters.ts";
import type { Model } from "#domain/models.ts";
import type { Deps } from "../../deps.ts";
import { loadMessages } from "./attached.ts";
import { makePictures } from "./pictures.ts";
import type { RunningAnswer } from "./running-answer.ts";
import { makeSpeech } from "./speech.ts";
import { transcribe } from "./transcripts.ts";
import type { UpstreamEnd, UpstreamTimings } from "./upstream.ts";
import { askModel } from "./upstream.ts";

export interface AnswerTimings extends UpstreamTimings {
  /** Pictures take longer than texts to begin. */
  pictures: UpstreamTimings;
  /** So do transcripts that come as a whole, and texts that are read aloud. */
  sounds: UpstreamTimings;
  /** How often text is written to the log, and how often we look for stops that other processes were asked for. */
  flushMs: number;
  leaseMs: number;
  /** How long a hold may stay open. */
  holdMs: number;
  /** How often we read the log of answers that other processes write. */
  followMs: number;
  /** How long answers may continue after `close`, if the process did not drain before (http/draining.ts). */
  shutdownMs: number;
  retryMs: number;
}

/**
 * Over chat completions most models send nothing while they think or search. The limit on their output also limits thinking, and the
 * slowest models reach it within about this many times the wait for a first text without thinking (30 s: two minutes).
 */
const thinkingWaits = 4;

/** How long this model is waited for. */
export function patienceWith(model: Model, timings: UpstreamTimings): UpstreamTimings {
  const { effort = "none", searches } = parametersOf(model);
  const { firstTokenMs, idleMs, totalMs } = timings;
  if (effort === "none" && searches === undefined) return { firstTokenMs, idleMs, totalMs };
  return { firstTokenMs: Math.min(thinkingWaits * firstTokenMs, totalMs), idleMs, totalMs };
}

/** Never throws. */
export function askFor(deps: Deps, timings: AnswerTimings, answer: RunningAnswer): Promise<UpstreamEnd> {
  const { model, messages, userId, row } = answer.start;
  const { picture, speech, recording } = row.options ?? {};
  if (picture) return makePictures(deps, answer, picture, timings.pictures);
  if (speech) return makeSpeech(deps, answer, speech, timings.sounds);
  if (recording) return transcribe(deps, answer, recording, timings.sounds);
  return askModel(deps.models, {
    ...{ model, personId: userId, messages, timings: patienceWith(model, timings), signal: answer.controller.signal },
    load: (asked, signal) => loadMessages(deps, userId, model, asked, signal),
    onBegun: () => answer.start.leaveRoom?.(),
    onText: (text) => answer.add(text),
    onSources: (sources) => answer.addSources(sources),
  });
}
