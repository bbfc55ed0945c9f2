/** What has to be looked up before a request has a price: how long a recording is, and what is to be read aloud. */
import { quoteCredits } from "#domain/pricing.ts";
import type { CreateGeneration } from "../../contract/generations/generations.ts";
import type { Deps } from "../../deps.ts";
import { selectQuestion } from "./branches.ts";
import { trimHistory } from "./history.ts";
import { noPlace } from "./refusals.ts";
import type { Wanted } from "./requests.ts";
import { planSpeech, readableText } from "./speech.ts";
import { findRecording } from "./transcripts.ts";
import { planTurn } from "./turns.ts";

/** The question stands alone: its answer goes to the player or to the composer, and into no conversation. */
const standsAlone = ({ reads, dictated }: CreateGeneration) => reads !== undefined || dictated === true;

/** What has to be looked up first, because the price depends on it: how long a recording is, and what is to be read aloud. */
export async function measure(deps: Deps, userId: string, request: CreateGeneration, wanted: Wanted): Promise<Wanted> {
  const { model, prompt } = wanted;
  if (model.unit === "minute") {
    const { recording, bytes } = await findRecording(deps.db, userId, request, model);
    const credits = quoteCredits(model, { seconds: recording.durationMs / 1_000 });
    return { ...wanted, options: { recording }, recordingBytes: bytes, credits };
  }
  if (model.unit !== "thousand_characters") return wanted;
  const { reads, conversationId, questionId } = request;
  const again = conversationId !== undefined && questionId !== undefined;
  const text =
    reads === undefined
      ? (prompt ?? (again ? (await selectQuestion(deps.db, { conversationId, userId, questionId }))?.prompt : undefined))
      : await readableText(deps.db, userId, reads);
  if (text === undefined) throw noPlace();
  const speech = planSpeech(model, request.speech?.voice, text, reads);
  const credits = quoteCredits(model, { characters: speech.characters });
  return { ...wanted, prompt: reads === undefined ? prompt : text, options: { speech }, credits };
}

/** A question that stands alone is not planned into a conversation. */
export async function planOf(deps: Deps, userId: string, request: CreateGeneration, { prompt, model }: Wanted) {
  if (!standsAlone(request)) return planTurn(deps.db, userId, request, prompt, model);
  return { turn: null, ...trimHistory([], 0, { content: prompt ?? "" }) };
}
