/** Asks the model for what the answer is to be: words, pictures, a transcript or speech. */
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

/** Never throws. */
export function askFor(deps: Deps, timings: AnswerTimings, answer: RunningAnswer): Promise<UpstreamEnd> {
  const { model, messages, userId, row } = answer.start;
  const { picture, speech, recording } = row.options ?? {};
  if (picture) return makePictures(deps, answer, picture, timings.pictures);
  if (speech) return makeSpeech(deps, answer, speech, timings.sounds);
  if (recording) return transcribe(deps, answer, recording, timings.sounds);
  return askModel(deps.models, {
    ...{ model, personId: userId, messages, timings, signal: answer.controller.signal },
    load: (asked) => loadMessages(deps, userId, model, asked),
    onText: (text) => answer.add(text),
    onSources: (sources) => answer.addSources(sources),
  });
}
