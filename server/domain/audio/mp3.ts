import { Bytes } from "./bytes.ts";
import type { Frame } from "./frames.ts";
import { measureFrames } from "./frames.ts";

/** ISO 11172-3 and 13818-3: kilobits per second, by version (1, or 2 and 2.5) and layer. */
const bitRates: Readonly<Record<string, readonly number[]>> = {
  "1 1": [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  "1 2": [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  "1 3": [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  "2 1": [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  "2 2": [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  "2 3": [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const sampleRates = [44_100, 48_000, 32_000];

export interface Mp3Frame extends Frame {
  /** Where the sound of a frame of layer 3 begins, behind its header. */
  dataAt: number;
}

/** A frame's header has no length: it follows from bit rate and sample rate. Undefined where no frame begins. */
export function readMp3Frame(bytes: Bytes, at: number): Mp3Frame | undefined {
  const header = bytes.u32(at);
  if (header >>> 21 !== 0x7ff) return undefined;
  const versionBits = (header >>> 19) & 3;
  const layer = 4 - ((header >>> 17) & 3);
  const bitRateIndex = (header >>> 12) & 15;
  const sampleRate = sampleRates[(header >>> 10) & 3];
  if (versionBits === 1 || layer === 4 || bitRateIndex === 15 || bitRateIndex === 0 || sampleRate === undefined) return undefined;
  const version = versionBits === 3 ? 1 : 2;
  const hertz = sampleRate / (versionBits === 3 ? 1 : versionBits === 2 ? 2 : 4);
  const bitsPerSecond = (bitRates[`${version} ${layer}`]?.[bitRateIndex] ?? 0) * 1_000;
  const samples = layer === 1 ? 384 : layer === 3 && version === 2 ? 576 : 1_152;
  const padding = (header >>> 9) & 1;
  const length =
    layer === 1 ? (Math.floor((12 * bitsPerSecond) / hertz) + padding) * 4 : Math.floor((samples / 8) * (bitsPerSecond / hertz)) + padding;
  const isMono = ((header >>> 6) & 3) === 3;
  const sideBytes = version === 1 ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  return { bytes: length, seconds: samples / hertz, dataAt: at + 4 + sideBytes };
}

export const measureMp3 = (all: Uint8Array) => measureFrames(all, readMp3Frame);

/** Names of a frame without sound that says how long its file is. In a file joined from several that would be wrong. */
const indexNames = ["Xing", "Info", "VBRI"];
const vbriAt = 36;

/** The frames of a file, without tags and the frame that describes it. Undefined unless all of it is MPEG audio of layer 3. */
function framesOf(all: Uint8Array): Uint8Array | undefined {
  const bytes = new Bytes(all);
  let at = 0;
  if (bytes.name(0, 3) === "ID3") at = 10 + [6, 7, 8, 9].reduce((sum, place) => sum * 128 + (bytes.u8(place) & 0x7f), 0);
  const first = readMp3Frame(bytes, at);
  if (!first) return undefined;
  if (indexNames.includes(bytes.name(first.dataAt)) || indexNames.includes(bytes.name(at + vbriAt))) at += first.bytes;
  const from = at;
  for (let frame = readMp3Frame(bytes, at); frame; frame = readMp3Frame(bytes, at)) {
    if (at + frame.bytes > bytes.length) return undefined;
    at += frame.bytes;
  }
  // An ID3v1 tag may follow the last frame. It is left out.
  return at > from && (at === bytes.length || bytes.name(at, 3) === "TAG") ? all.subarray(from, at) : undefined;
}

/** Joins several MP3 files into one. Undefined if one of them is not whole. */
export function joinMp3(files: readonly Uint8Array[]): Uint8Array | undefined {
  const parts: Uint8Array[] = [];
  for (const file of files) {
    const frames = framesOf(file);
    if (!frames) return undefined;
    parts.push(frames);
  }
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined.length > 0 ? joined : undefined;
}
