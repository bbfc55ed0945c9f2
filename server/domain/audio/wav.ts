import { Bytes } from "./bytes.ts";
import type { Measured } from "./measured.ts";

/** PCM, floating point, A-law and µ-law: each sample has the same number of bytes. Others would have to be decoded. */
const plainFormats: ReadonlySet<number> = new Set([1, 3, 6, 7]);
const extensible = 0xfffe;

/** Real files have a dozen. */
const mostChunks = 10_000;

function bytesPerSecond(bytes: Bytes, at: number): number | undefined {
  const named = bytes.u16Little(at);
  const format = named === extensible ? bytes.u16Little(at + 24) : named;
  const [channels, hertz, bits] = [bytes.u16Little(at + 2), bytes.u32Little(at + 4), bytes.u16Little(at + 14)];
  if (!plainFormats.has(format) || channels < 1 || channels > 32 || hertz < 1_000 || hertz > 768_000) return undefined;
  // The header has this figure too, but it may be wrong.
  return bits >= 8 && bits <= 64 && bits % 8 === 0 ? (channels * bits * hertz) / 8 : undefined;
}

/** Recorders that write as they go leave the sizes of their chunks open, as 0 or as large as can be. Then the sound reaches to the end. */
export function measureWav(all: Uint8Array): Measured {
  const bytes = new Bytes(all);
  let rate: number | undefined;
  let sound = 0;
  let chunks = 0;
  for (let at = 12; at + 8 <= bytes.length; chunks += 1) {
    if (chunks > mostChunks) return "damaged";
    const name = bytes.name(at);
    const size = bytes.u32Little(at + 4);
    const rest = bytes.length - at - 8;
    if (name === "fmt ") rate = bytesPerSecond(bytes, at + 8);
    // No chunk name here: the chunk before it declared too small a size, so count the rest as sound.
    const isChunk = /^[\x20-\x7e]{4}$/.test(name);
    const isOpen = name === "data" && (size === 0 || size > rest);
    if (name === "data" || !isChunk) sound += isOpen || !isChunk ? rest : size;
    if (isOpen || !isChunk || size > rest) break;
    at += 8 + size + (size % 2);
  }
  if (rate === undefined) return "damaged";
  return sound === 0 ? "silent" : sound / rate;
}
