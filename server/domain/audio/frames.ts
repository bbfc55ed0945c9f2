/** Sound without a container: one frame after the other. */
import { Bytes } from "./bytes.ts";
import type { Measured } from "./measured.ts";

export interface Frame {
  bytes: number;
  seconds: number;
}

/** At most this many bytes between two frames may be something else, such as tags. Players skip them too. */
const mostSkippedBytes = 256 * 1024;
/** The first frame counts only if others follow it, because a few bits alone look like one anywhere. */
const confirmingFrames = 2;

/** The length of an ID3v2 tag, which precedes the sound. Its size is written in four bytes of seven bits each. */
function tagBytes(bytes: Bytes, at: number): number {
  if (bytes.name(at, 3) !== "ID3") return 0;
  const size = [6, 7, 8, 9].reduce((sum, place) => sum * 128 + (bytes.u8(at + place) & 0x7f), 0);
  const footer = bytes.u8(at + 5) & 0x10 ? 10 : 0;
  return 10 + size + footer;
}

/** Adds up the frames. More than `mostSkippedBytes` between two frames is damage, because players differ in what they do with it. */
export function measureFrames(all: Uint8Array, read: (bytes: Bytes, at: number) => Frame | undefined): Measured {
  const bytes = new Bytes(all);
  let at = 0;
  for (let tag = tagBytes(bytes, at); tag > 0; tag = tagBytes(bytes, at)) at += tag;
  const isFollowed = (from: number) => {
    let next = from;
    for (let frames = 0; frames <= confirmingFrames; frames += 1) {
      const frame = next < bytes.length ? read(bytes, next) : undefined;
      if (!frame) return next >= bytes.length && frames > 0;
      next += frame.bytes;
    }
    return true;
  };
  let seconds = 0;
  let skipped = 0;
  let inStep = false;
  while (at < bytes.length) {
    const frame = read(bytes, at);
    if (frame && (inStep || isFollowed(at))) {
      inStep = true;
      seconds += frame.seconds;
      at += frame.bytes;
      continue;
    }
    inStep = false;
    skipped += 1;
    at += 1;
    if (skipped > mostSkippedBytes) return "damaged";
  }
  return seconds > 0 ? seconds : "damaged";
}
