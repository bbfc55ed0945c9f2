import type { Bytes } from "./bytes.ts";
import type { Frame } from "./frames.ts";
import { measureFrames } from "./frames.ts";

/** ISO 14496-3, by the index in a frame's header. */
export const aacSampleRates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350];

function readFrame(bytes: Bytes, at: number): Frame | undefined {
  if ((bytes.u16(at) & 0xfff6) !== 0xfff0) return undefined;
  const hertz = aacSampleRates[(bytes.u8(at + 2) >> 2) & 15];
  const length = ((bytes.u8(at + 3) & 3) << 11) | (bytes.u8(at + 4) << 3) | (bytes.u8(at + 5) >> 5);
  if (hertz === undefined || length < 7) return undefined;
  const blocks = (bytes.u8(at + 6) & 3) + 1;
  return { bytes: length, seconds: (blocks * 1_024) / hertz };
}

export const measureAdts = (all: Uint8Array) => measureFrames(all, readFrame);
