/** Delivers transcripts. The sandbox understands no speech: it says how long the recording is, and then invents as much as fits into it. */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Model } from "#domain/models.ts";
import type { TranscriptRequest } from "./audio-request.ts";
import type { ModelCall } from "./calls.ts";
import type { ModelFault } from "./faults.ts";
import { seededChoices } from "./reply.ts";
import { splitTokens } from "./tokens.ts";

export interface SoundDelivery {
  response: ServerResponse;
  model: Model;
  fault: ModelFault | undefined;
  paceMs: () => number;
  call: ModelCall;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
}

const sentences = [
  "Good morning, and thank you for making the time.",
  "Let us begin with what we agreed on last week.",
  "I have read the draft, and I like where it is going.",
  "The second part is still too long for my taste.",
  "Could we move the date to Thursday instead?",
  "Thursday works for me, if we start after ten.",
  "Then I will send you the new numbers tonight.",
  "Please keep an eye on the costs for the printer.",
  "We should ask the others before we decide that.",
  "That was all from my side.",
];
/** About as much as somebody says in a breath. */
const secondsOfSentence = 4;
/** A limit, because nobody reads more of an invented transcript. */
const mostSentences = 400;

interface Spoken {
  start: number;
  end: number;
  speaker: string;
  text: string;
}

function speak(model: Model, seconds: number): Spoken[] {
  const count = Math.min(Math.max(1, Math.round(seconds / secondsOfSentence)), mostSentences);
  const each = seconds / count;
  const choose = seededChoices(String(Math.round(seconds * 10)));
  let speaker = 0;
  return Array.from({ length: count }, (_, index) => {
    if (index > 0 && choose(3) === 0) speaker = 1 - speaker;
    const text =
      index === 0
        ? `This is the sandbox of ${model.name}, which hears ${seconds.toFixed(1)} seconds.`
        : (sentences[choose(sentences.length)] ?? "");
    const round = (value: number) => Math.round(value * 100) / 100;
    return { start: round(index * each), end: round((index + 1) * each), speaker: `speaker_${speaker + 1}`, text };
  });
}

export function untilGone(signal: AbortSignal): Promise<void> {
  return signal.aborted ? Promise.resolve() : new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

export const garbage = Buffer.from([0xff, 0xfe, 0x0a, 0x64, 0x61, 0x74, 0x61, 0x3a, 0x20, 0x7b, 0x0a, 0x0a]);

function usageOf(seconds: number, tokens: number): object {
  const input = Math.ceil(seconds * 10);
  return {
    ...{ type: "tokens", input_tokens: input, output_tokens: tokens, total_tokens: input + tokens },
    input_token_details: { audio_tokens: input, text_tokens: 0 },
  };
}

/** Writes the words as they come, or as many as the fault lets through. */
export async function streamTranscript(delivery: SoundDelivery, { seconds }: TranscriptRequest): Promise<void> {
  const { response, model, fault, paceMs, call, signal } = delivery;
  const kind = fault?.fault;
  const text = speak(model, seconds)
    .map((each) => each.text)
    .join(" ");
  const event = (data: object) => response.write(`data: ${JSON.stringify(data)}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.flushHeaders();
  if (kind === "slow_first_token") await sleep(fault?.delayMs ?? 0, undefined, { signal }).catch(() => undefined);
  const breaks = kind === "die_mid_stream" || kind === "hang" || kind === "garbage" || kind === "half_file";
  const tokens = kind === "empty" ? [] : splitTokens(text);
  const sent = breaks ? tokens.slice(0, fault?.afterTokens ?? 0) : tokens;
  for (const token of sent) {
    if (paceMs() > 0) await sleep(paceMs(), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    call.completionTokens += 1;
    event({ type: "transcript.text.delta", delta: token });
  }
  if (kind === "hang") return untilGone(signal);
  if (kind === "garbage") return void response.end(garbage);
  if (kind === "half_file") return void response.end();
  if (kind === "die_mid_stream") {
    await sleep(50);
    return void response.destroy();
  }
  const usage = kind === "no_usage" ? {} : { usage: usageOf(seconds, call.completionTokens) };
  event({ type: "transcript.text.done", text: sent.join(""), languages: [{ code: "en" }], ...usage });
  response.end();
}

function bodyOf(model: Model, { seconds, times, speakers }: TranscriptRequest, isEmpty: boolean): object {
  const spoken = isEmpty ? [] : speak(model, seconds);
  const text = spoken.map((each) => each.text).join(" ");
  if (model.provider === "mistral")
    return {
      ...{ model: model.upstreamModel, text, language: null },
      segments: times
        ? spoken.map(({ speaker, ...each }) => ({ type: "transcription_segment", ...each, ...(speakers && { speaker_id: speaker }) }))
        : [],
      usage: { prompt_audio_seconds: Math.ceil(seconds), prompt_tokens: 4, completion_tokens: text.length, total_tokens: text.length + 4 },
    };
  const usage = { type: "duration", seconds: Math.ceil(seconds) };
  if (!times) return { text, usage };
  const segments = spoken.map(({ speaker: _speaker, ...each }, id) => ({ id, seek: 0, ...each, tokens: [], temperature: 0 }));
  return { task: "transcribe", language: "english", duration: seconds, text, segments, usage };
}

/** Sends the whole transcript at once, so a fault's `afterTokens` has no effect. */
export async function sendTranscript(delivery: SoundDelivery, asked: TranscriptRequest): Promise<void> {
  const { response, model, fault, call, paceMs, signal } = delivery;
  const kind = fault?.fault;
  if (kind === "hang") return untilGone(signal);
  await sleep(kind === "slow_first_token" ? (fault?.delayMs ?? 0) : paceMs() * 40, undefined, { signal }).catch(() => undefined);
  if (signal.aborted) return;
  const body = JSON.stringify(bodyOf(model, asked, kind === "empty"));
  call.completionTokens = splitTokens(body).length;
  response.writeHead(200, { "content-type": "application/json" });
  if (kind === "garbage") return void response.end(garbage);
  if (kind === "die_mid_stream") {
    response.write(body.slice(0, body.length / 2));
    await sleep(50);
    return void response.destroy();
  }
  response.end(kind === "half_file" ? body.slice(0, body.length / 2) : body);
}
