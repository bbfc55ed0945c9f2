/**
 * Speaks as an MP3 that every browser plays: a vowel for each vowel of the text, in one of three pitches. The frames were encoded once
 * (assets/syllables.mp3), each without need of the one before it, and are put behind each other here.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Bytes } from "#domain/audio/bytes.ts";
import { readMp3Frame } from "#domain/audio/mp3.ts";
import type { SpeechRequest } from "./audio-request.ts";
import type { SoundDelivery } from "./transcripts.ts";
import { garbage, untilGone } from "./transcripts.ts";

const framesOfSyllable = 9;
const pitches = 3;
const vowels = ["a", "e", "i", "o", "u"];
const silence = vowels.length;

/** By pitch, then by vowel; the last one of each pitch is silence. */
function loadSyllables(): Buffer[][] {
  const all = readFileSync(new URL("assets/syllables.mp3", import.meta.url));
  const bytes = new Bytes(all);
  const frames: Buffer[] = [];
  for (let at = 0, frame = readMp3Frame(bytes, 0); frame; frame = readMp3Frame(bytes, at)) {
    frames.push(all.subarray(at, at + frame.bytes));
    at += frame.bytes;
  }
  return Array.from({ length: pitches }, (_, pitch) =>
    Array.from({ length: vowels.length + 1 }, (_none, vowel) => {
      const first = (pitch * (vowels.length + 1) + vowel) * framesOfSyllable;
      return Buffer.concat(frames.slice(first, first + framesOfSyllable));
    }),
  );
}

let loaded: Buffer[][] | undefined;

function speak({ text, voice }: SpeechRequest): Buffer {
  loaded ??= loadSyllables();
  const pitch = loaded[[...voice].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % pitches] ?? [];
  const pause = pitch[silence] ?? Buffer.alloc(0);
  const plain = text.normalize("NFD").toLowerCase();
  // In scripts without these vowels, every third character counts as a syllable.
  const marks = plain.match(/[aeiou]|[.!?。\n]|[^ -~\s]/gu) ?? [];
  const spoken = marks.map((mark, index) => {
    const vowel = vowels.indexOf(mark);
    if (vowel >= 0) return pitch[vowel] ?? pause;
    if (/[.!?。\n]/.test(mark)) return pause;
    return index % 3 === 0 ? (pitch[(mark.codePointAt(0) ?? 0) % vowels.length] ?? pause) : Buffer.alloc(0);
  });
  return Buffer.concat([pause, ...spoken, pause]);
}

/** Mistral answers with JSON, OpenAI with the MP3. `half_file`: it ends in the middle of a frame. */
export async function sendSpeech(delivery: SoundDelivery, asked: SpeechRequest): Promise<void> {
  const { response, model, fault, call, paceMs, signal } = delivery;
  const kind = fault?.fault;
  if (kind === "hang") return untilGone(signal);
  await sleep(kind === "slow_first_token" ? (fault?.delayMs ?? 0) : paceMs() * 40, undefined, { signal }).catch(() => undefined);
  if (signal.aborted) return;
  const whole = speak(asked);
  call.completionTokens = Math.ceil(whole.length / 100);
  const sound = kind === "half_file" ? whole.subarray(0, whole.length - 50) : kind === "empty" ? Buffer.alloc(0) : whole;
  const isJson = model.provider === "mistral";
  const body = isJson ? Buffer.from(JSON.stringify({ audio_data: sound.toString("base64") })) : sound;
  response.writeHead(200, { "content-type": isJson ? "application/json" : "audio/mpeg" });
  if (kind === "garbage") return void response.end(garbage);
  if (kind === "die_mid_stream") {
    response.write(body.subarray(0, body.length / 2));
    await sleep(50);
    return void response.destroy();
  }
  response.end(body);
}
