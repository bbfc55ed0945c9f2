import { Bytes } from "./bytes.ts";
import type { Measured } from "./measured.ts";
import { mostRestBytes } from "./measured.ts";
import { opusSeconds } from "./opus.ts";

/** The ids of Matroska's elements that we look into or read. */
const segment = 0x18538067;
const info = 0x1549a966;
const timestampScale = 0x2ad7b1;
const tracks = 0x1654ae6b;
const trackEntry = 0xae;
const trackNumber = 0xd7;
const trackType = 0x83;
const codecId = 0x86;
const cluster = 0x1f43b675;
const clusterTime = 0xe7;
const simpleBlock = 0xa3;
const blockGroup = 0xa0;
const block = 0xa1;
const blockDuration = 0x9b;
const opened: ReadonlySet<number> = new Set([segment, info, tracks, trackEntry, cluster, blockGroup]);
const videoTrack = 1;
const audioTrack = 2;

/** Two hours in packets of 20 ms are 360,000 blocks. */
const mostElements = 1_000_000;

interface Track {
  number: number;
  type: number;
  codec: string;
}

/** A number of variable length: its leading zeros say how many bytes it has. `-1`: all bits are set, which means an unknown size. */
function variable(bytes: Bytes, at: number, keepMarker: boolean): { value: number; length: number } | undefined {
  const first = bytes.u8(at);
  if (first === 0) return undefined;
  const length = Math.clz32(first) - 23;
  let value = keepMarker ? first : first & (0xff >> length);
  let isUnknown = (first & (0xff >> length)) === 0xff >> length;
  for (let index = 1; index < length; index += 1) {
    value = value * 256 + bytes.u8(at + index);
    isUnknown &&= bytes.u8(at + index) === 0xff;
  }
  return { value: isUnknown && !keepMarker ? -1 : value, length };
}

function unsigned(bytes: Bytes, at: number, length: number): number {
  let value = 0;
  for (let index = 0; index < Math.min(length, 8); index += 1) value = value * 256 + bytes.u8(at + index);
  return value;
}

/**
 * Browsers record without a length and with clusters of unknown size, so the blocks are visited, in the order in which they stand. The latest
 * one says how long the recording is; of Opus the packets are added up too, whatever their times say.
 */
class Walk {
  private readonly bytes: Bytes;
  private readonly found: Track[] = [];
  private scaleNanoseconds = 1_000_000;
  private clusterTicks = 0;
  private blockTicks = 0;
  private lastTicks = 0;
  private firstTicks: number | undefined;
  private packets = 0;
  private isLaced = false;

  constructor(bytes: Bytes) {
    this.bytes = bytes;
  }

  run(): Measured {
    const { bytes } = this;
    let at = 0;
    let elements = 0;
    while (at < bytes.length) {
      elements += 1;
      if (elements > mostElements) return "damaged";
      const id = variable(bytes, at, true);
      const size = id && variable(bytes, at + id.length, false);
      if (!id || !size) break;
      const contentAt = at + id.length + size.length;
      if (opened.has(id.value)) {
        if (id.value === trackEntry) this.found.push({ number: 0, type: 0, codec: "" });
        at = contentAt;
        continue;
      }
      if (size.value < 0) break;
      this.take(id.value, contentAt, size.value);
      at = contentAt + size.value;
    }
    if (this.found.some(({ type }) => type === videoTrack)) return "moving";
    if (!this.sound || this.isLaced || bytes.length - at > mostRestBytes) return "damaged";
    // Packets of other codecs don't say how long they are.
    if (!this.sound.codec.startsWith("A_OPUS")) return "unknown";
    const ticks = this.lastTicks - (this.firstTicks ?? 0);
    return Math.max((ticks * this.scaleNanoseconds) / 1e9, this.packets) || "silent";
  }

  private get sound(): Track | undefined {
    return this.found.find(({ type }) => type === audioTrack);
  }

  private take(id: number, at: number, length: number): void {
    const { bytes } = this;
    const track = this.found.at(-1);
    if (id === timestampScale) this.scaleNanoseconds = unsigned(bytes, at, length) || this.scaleNanoseconds;
    else if (id === clusterTime) this.clusterTicks = unsigned(bytes, at, length);
    else if (id === trackNumber && track) track.number = unsigned(bytes, at, length);
    else if (id === trackType && track) track.type = unsigned(bytes, at, length);
    else if (id === codecId && track) track.codec = bytes.name(at, Math.min(length, 40));
    else if (id === blockDuration) this.lastTicks = Math.max(this.lastTicks, this.blockTicks + unsigned(bytes, at, length));
    else if (id === simpleBlock || id === block) this.block(at);
  }

  private block(at: number): void {
    const { bytes, sound } = this;
    const number = variable(bytes, at, false);
    if (!number || number.value !== sound?.number) return;
    const timeAt = at + number.length;
    this.blockTicks = this.clusterTicks + ((bytes.u16(timeAt) << 16) >> 16);
    this.firstTicks ??= this.blockTicks;
    this.lastTicks = Math.max(this.lastTicks, this.blockTicks);
    // Several packets in one block, which no recorder writes.
    this.isLaced ||= (bytes.u8(timeAt + 2) & 0x06) !== 0;
    this.packets += opusSeconds(bytes.u8(timeAt + 3), bytes.u8(timeAt + 4));
  }
}

export const measureWebm = (all: Uint8Array) => new Walk(new Bytes(all)).run();
