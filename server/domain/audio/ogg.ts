import { Bytes } from "./bytes.ts";
import type { Measured } from "./measured.ts";
import { mostRestBytes } from "./measured.ts";
import { opusSeconds } from "./opus.ts";

/** "OggS" and "Opus". */
const pageMark = 0x4f676753;
const opusMark = 0x4f707573;
/** Two hours with a packet of 20 ms on each. */
const mostPages = 400_000;

interface Page {
  serial: number;
  bodyAt: number;
  end: number;
  /** Where packets begin. */
  starts: readonly number[];
}

/** RFC 3533: a packet has a size in steps of up to 255, the last of which is smaller. */
function readPage(bytes: Bytes, at: number): Page {
  const segments = bytes.u8(at + 26);
  const bodyAt = at + 27 + segments;
  const starts: number[] = [];
  let end = bodyAt;
  let isFresh = (bytes.u8(at + 5) & 1) === 0;
  for (let index = 0; index < segments; index += 1) {
    const size = bytes.u8(at + 27 + index);
    if (isFresh && size > 0) starts.push(end);
    end += size;
    isFresh = size < 255;
  }
  return { serial: bytes.u32(at + 14), bodyAt, end, starts };
}

/**
 * The packets of Opus are added up, of all streams: their pages have positions too, which may say anything. Packets of Vorbis don't say how long
 * they are, so we take none.
 */
export function measureOgg(all: Uint8Array): Measured {
  const bytes = new Bytes(all);
  /** How many pages of each stream of Opus were read. */
  const streams = new Map<number, number>();
  let seconds = 0;
  let at = 0;
  let pagesRead = 0;
  while (at + 27 <= bytes.length && bytes.u32(at) === pageMark) {
    pagesRead += 1;
    if (pagesRead > mostPages) return "damaged";
    const { serial, bodyAt, end, starts } = readPage(bytes, at);
    if (bytes.u32(bodyAt) === opusMark && bytes.name(bodyAt, 8) === "OpusHead") streams.set(serial, 0);
    const pages = streams.get(serial);
    if (pages !== undefined) {
      streams.set(serial, pages + 1);
      // The first two are headers.
      if (pages > 1) for (const start of starts) seconds += opusSeconds(bytes.u8(start), bytes.u8(start + 1));
    }
    at = end;
  }
  if (streams.size === 0) return "unknown";
  if (bytes.length - at > mostRestBytes) return "damaged";
  return seconds || "silent";
}
