/**
 * Answers that are read aloud. A text is sent in pieces, a few at a time, and their sound is joined. It counts as delivered when it is stored as
 * a file of the person: until then nothing is charged.
 */
import { joinMp3, measureMp3 } from "#domain/audio/mp3.ts";
import { DomainError } from "#domain/errors.ts";
import type { Model } from "#domain/models.ts";
import { unitCostMicroDollars } from "#domain/provider-prices.ts";
import { charactersOf, speechLimits, speechPieces, voicesOf } from "#domain/speech.ts";
import { spokenText } from "#domain/spoken-text.ts";
import { charactersPerUnit } from "#domain/units.ts";
import type { SpeechReceipt } from "../../contract/generations/sounds.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { ValidationError } from "../../http/problem.ts";
import { ModelOutage } from "../../providers/models/protocol.ts";
import { keepOutput, promptOf } from "./outputs.ts";
import { selectGeneration, selectParts } from "./queries.ts";
import type { RunningAnswer } from "./running-answer.ts";
import type { UpstreamEnd, UpstreamTimings } from "./upstream.ts";
import { askModel, nothingMade } from "./upstream.ts";

const piecesAtOnce = 3;

/** Throws `validation_failed` for a voice that the model does not have, and `speech_too_long`. */
export function planSpeech(model: Model, voice: string | undefined, text: string, reads: string | undefined): SpeechReceipt {
  const voices = voicesOf(model);
  const chosen = voice === undefined ? voices[0] : voices.find(({ id }) => id === voice);
  if (!chosen) throw new ValidationError([{ field: "speech", message: `${model.name} has no such voice` }]);
  const characters = charactersOf(text);
  if (characters > speechLimits.characters)
    throw new DomainError("speech_too_long", `At most ${speechLimits.characters} characters can be read aloud at once`, {
      characters: speechLimits.characters,
    });
  return { voice: chosen.id, characters, ...(reads !== undefined && { reads }) };
}

/** The words of an answer of this person's. Throws `not_found` if there is no such answer, or nothing in it can be read aloud. */
export async function readableText(executor: Executor, userId: string, id: string): Promise<string> {
  const row = await selectGeneration(executor, userId, id);
  const parts = row && row.erased_at === null ? ((await selectParts(executor, [row.id])).get(row.id) ?? []) : [];
  const text = spokenText(parts.map((part) => (part.kind === "text" ? part.text : "")).join("\n"));
  if (text === "") throw new DomainError("not_found", "There is no such answer, or nothing in it can be read aloud");
  return text;
}

/** The limits for one piece: what is left of the time for all pieces, because the hold for all of them ends a little after that. */
function within({ firstTokenMs, idleMs }: UpstreamTimings, endsAtMs: number): UpstreamTimings {
  const leftMs = Math.max(endsAtMs - performance.now(), 0);
  return { firstTokenMs: Math.min(firstTokenMs, leftMs), idleMs: Math.min(idleMs, leftMs), totalMs: leftMs };
}

/** Asks for all pieces, a few at a time, and for none any more once one has failed. `timings.totalMs` is for all of them together. */
async function askPieces(deps: Deps, answer: RunningAnswer, pieces: readonly string[], voice: string, timings: UpstreamTimings) {
  const { model, userId } = answer.start;
  const ends: UpstreamEnd[] = [];
  const endsAtMs = performance.now() + timings.totalMs;
  let next = 0;
  const work = async () => {
    while (next < pieces.length && ends.every((end) => end?.failure === undefined) && !answer.controller.signal.aborted) {
      const place = next;
      next += 1;
      ends[place] = await askModel(deps.models, {
        ...{ model, personId: userId, speech: { voice }, signal: answer.controller.signal },
        timings: within(timings, endsAtMs),
        messages: [{ role: "user", content: pieces[place] ?? "" }],
        onText: () => {},
        onSources: () => {},
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(piecesAtOnce, pieces.length) }, work));
  return ends;
}

/** Never throws. */
export async function makeSpeech(deps: Deps, answer: RunningAnswer, speech: SpeechReceipt, timings: UpstreamTimings): Promise<UpstreamEnd> {
  const { model, userId, row } = answer.start;
  const ends = await askPieces(deps, answer, speechPieces(promptOf(answer)), speech.voice, timings);
  const failed = ends.find((end) => end?.failure !== undefined);
  if (failed) return { ...failed, concluded: false };
  if (answer.controller.signal.aborted) return nothingMade;
  try {
    const joined = joinMp3(ends.map(({ sound }) => sound ?? new Uint8Array()));
    const seconds = joined && measureMp3(joined);
    if (!joined || typeof seconds !== "number") throw new ModelOutage("provider_garbage", "what the provider sent is no sound");
    deps.models.report(model, userId, true);
    const durationMs = Math.ceil(seconds * 1_000);
    const { id: fileId } = await keepOutput(deps, answer, { durationMs }, joined);
    answer.addSound({ kind: "sound", fileId, durationMs });
    return {
      ...nothingMade,
      concluded: true,
      costMicroDollars: unitCostMicroDollars(model, speech.characters / charactersPerUnit, row.now),
    };
  } catch (error) {
    if (error instanceof ModelOutage) deps.models.report(model, userId, false);
    return { ...nothingMade, failure: error instanceof ModelOutage ? error.code : "sound_not_kept", error };
  }
}
