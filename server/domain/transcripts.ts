/** Recordings that models write down, and what becomes of a transcript that says when each sentence was spoken, and by whom. */

import { parametersOf } from "./model-parameters.ts";
import type { Model } from "./models.ts";

export const recordingLimits = {
  megabytes: 25,
  /** Providers accept recordings of a few hours in one file. We accept less, because people wait for the transcript. */
  seconds: 2 * 60 * 60,
} as const;

/** The longest recording that the model takes. */
export function recordingSecondsOf(model: Pick<Model, "id" | "own">): number {
  return Math.min(parametersOf(model).recordingSeconds ?? recordingLimits.seconds, recordingLimits.seconds);
}

export const recordingBytes = recordingLimits.megabytes * 1024 * 1024;

/** A sentence or so, in seconds from the recording's beginning. */
export interface Segment {
  from: number;
  to: number;
  /** The provider's name for the voice; null if the provider does not tell voices apart. */
  speaker: string | null;
  text: string;
}

export type SubtitleFormat = "srt" | "vtt";

function timeOf(seconds: number, point: "," | "."): string {
  const milliseconds = Math.max(0, Math.round(seconds * 1_000));
  const [hours, minutes] = [Math.floor(milliseconds / 3_600_000), Math.floor(milliseconds / 60_000) % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(hours)}:${two(minutes)}:${two(Math.floor(milliseconds / 1_000) % 60)}${point}${String(milliseconds % 1_000).padStart(3, "0")}`;
}

/** Numbers for the speakers, in the order in which they begin: what providers call them means nothing to a reader. */
export function speakersOf(segments: readonly Segment[]): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const { speaker } of segments) if (speaker !== null && !numbers.has(speaker)) numbers.set(speaker, numbers.size + 1);
  return numbers;
}

/**
 * A file of subtitles. A line of text is neither an arrow nor empty, because both would end it. `nameOf`: how a speaker is called; speakers are
 * named only if there are several.
 */
export function subtitlesOf(segments: readonly Segment[], format: SubtitleFormat, nameOf: (number: number) => string): string {
  const numbers = speakersOf(segments);
  const cues = segments.map(({ from, to, speaker, text }, index) => {
    const point = format === "srt" ? "," : ".";
    const words = text
      .trim()
      .replace(/\s*[\r\n]+\s*/g, "\n")
      .replaceAll("-->", "→");
    const escaped = format === "vtt" ? words.replaceAll("&", "&amp;").replaceAll("<", "&lt;") : words;
    const number = speaker === null || numbers.size < 2 ? undefined : numbers.get(speaker);
    const name = number === undefined ? "" : `${nameOf(number)}: `;
    return `${index + 1}\n${timeOf(from, point)} --> ${timeOf(Math.max(to, from), point)}\n${name}${escaped}\n`;
  });
  return (format === "vtt" ? "WEBVTT\n\n" : "") + cues.join("\n");
}
