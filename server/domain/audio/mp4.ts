import { aacSampleRates } from "./adts.ts";
import { Bytes } from "./bytes.ts";
import type { Measured } from "./measured.ts";

/** Boxes with other boxes in them, as far as we look. */
const opened: ReadonlySet<string> = new Set(["moov", "trak", "mdia", "minf", "stbl", "moof", "traf", "mvex"]);
/** Boxes within boxes; real files have six. */
const deepest = 12;
/** Two hours in fragments of a second have a third of that. */
const mostBoxes = 200_000;
/** How far into the description of a track we look for its codec's. */
const searchedBytes = 1_000;
/** Samples that AAC has in each of its packets. */
const samplesOfPacket = 1_024;

interface Track {
  id: number;
  handler: string;
  timescale: number;
  /** By its tables, in ticks of its timescale. */
  ticks: number;
  packets: number;
  /** The sample rate of AAC; 0 for other codecs, because we can't tell the length of their packets. */
  hertz: number;
  /** What a fragment's packets last where it does not say. */
  usualTicks: number;
}

/** The sample rate of AAC, from the object that describes it (ISO 14496-1 §7.2.6.7): the box has it too, but only up to 65,535. */
function aacHertz(bytes: Bytes, from: number, end: number): number {
  const searched = Math.min(end, from + searchedBytes);
  for (let at = from; at + 8 < searched; at += 1) {
    if (bytes.name(at) !== "esds") continue;
    for (let tag = at + 8; tag < Math.min(end, at + 80); tag += 1) {
      // The decoder's own description: tag 5, its length in up to four bytes.
      if (bytes.u8(tag) !== 5) continue;
      let data = tag + 1;
      while (bytes.u8(data) >= 0x80 && data < tag + 5) data += 1;
      data += 1;
      const index = ((bytes.u8(data) & 7) << 1) | (bytes.u8(data + 1) >> 7);
      return aacSampleRates[index] ?? 0;
    }
  }
  return 0;
}

/**
 * ISO 14496-12. The tables of a track say how long each of its packets lasts; recorders that write as they go have them in fragments. The
 * packets are counted too, because a decoder goes by them, whatever a table says. So it has to be AAC, whose packets are all alike.
 */
class Walk {
  private readonly bytes: Bytes;
  private readonly tracks: Track[] = [];
  /** The track of the fragment that is being read. */
  private fragment: Track | undefined;
  private fragmentTicks = 0;
  private visited = 0;

  constructor(bytes: Bytes) {
    this.bytes = bytes;
  }

  run(): Measured {
    this.boxes(0, this.bytes.length, 0);
    if (this.visited > mostBoxes) return "damaged";
    if (this.tracks.some(({ handler }) => handler === "vide")) return "moving";
    const sounds = this.tracks.filter(({ handler }) => handler === "soun");
    if (sounds.length === 0) return "damaged";
    if (sounds.some(({ hertz }) => hertz === 0)) return "unknown";
    const lengths = sounds.map(({ ticks, timescale, packets, hertz }) =>
      Math.max(timescale > 0 ? ticks / timescale : 0, (packets * samplesOfPacket) / hertz),
    );
    return Math.max(...lengths) || "silent";
  }

  private boxes(from: number, end: number, depth: number): void {
    const { bytes } = this;
    for (let at = from; at + 8 <= end; ) {
      this.visited += 1;
      if (this.visited > mostBoxes) return;
      const named = bytes.u32(at);
      const isLarge = named === 1;
      const size = named === 0 ? end - at : isLarge ? bytes.u64(at + 8) : named;
      const contentAt = at + (isLarge ? 16 : 8);
      if (size < contentAt - at) return;
      const contentEnd = Math.min(at + size, end);
      const name = bytes.name(at + 4);
      if (name === "trak") this.tracks.push({ id: 0, handler: "", timescale: 0, ticks: 0, packets: 0, hertz: 0, usualTicks: 0 });
      if (opened.has(name) && depth < deepest) this.boxes(contentAt, contentEnd, depth + 1);
      else this.take(name, contentAt, contentEnd);
      at += size;
    }
  }

  private take(name: string, at: number, end: number): void {
    const { bytes } = this;
    const track = this.tracks.at(-1);
    const version = bytes.u8(at);
    if (name === "trex") {
      const meant = this.tracks.find(({ id }) => id === bytes.u32(at + 4));
      if (meant) meant.usualTicks = bytes.u32(at + 12);
    } else if (name === "tfhd") this.beginFragment(at);
    else if (name === "trun") this.readRun(at, end);
    else if (!track) return;
    else if (name === "tkhd") track.id = bytes.u32(at + (version === 1 ? 20 : 12));
    else if (name === "mdhd") track.timescale = bytes.u32(at + (version === 1 ? 20 : 12));
    else if (name === "hdlr") track.handler = bytes.name(at + 8);
    else if (name === "stsd") track.hertz = aacHertz(bytes, at, end);
    else if (name === "stsz") track.packets = Math.max(track.packets, bytes.u32(at + 8));
    else if (name === "stts") this.readTimes(track, at, end);
  }

  private readTimes(track: Track, at: number, end: number): void {
    const { bytes } = this;
    const entries = Math.min(bytes.u32(at + 4), Math.floor((end - at - 8) / 8));
    for (let entry = 0; entry < entries; entry += 1) track.ticks += bytes.u32(at + 8 + entry * 8) * bytes.u32(at + 12 + entry * 8);
  }

  private beginFragment(at: number): void {
    const { bytes } = this;
    const flags = bytes.u32(at) & 0xffffff;
    this.fragment = this.tracks.find(({ id }) => id === bytes.u32(at + 4));
    const ticksAt = at + 8 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0);
    this.fragmentTicks = flags & 8 ? bytes.u32(ticksAt) : (this.fragment?.usualTicks ?? 0);
  }

  private readRun(at: number, end: number): void {
    const { bytes, fragment, fragmentTicks } = this;
    if (!fragment) return;
    const flags = bytes.u32(at) & 0xffffff;
    const count = bytes.u32(at + 4);
    const firstAt = at + 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0);
    const entryBytes = 4 * [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag).length;
    // Without a table all packets last as long as the fragment says. There can't be more packets than bytes, whatever the file claims.
    const packets = entryBytes === 0 ? Math.min(count, bytes.length) : Math.min(count, Math.floor((end - firstAt) / entryBytes));
    fragment.packets += packets;
    if ((flags & 0x100) === 0) fragment.ticks += packets * fragmentTicks;
    else for (let entry = 0; entry < packets; entry += 1) fragment.ticks += bytes.u32(firstAt + entry * entryBytes);
  }
}

export const measureMp4 = (all: Uint8Array) => new Walk(new Bytes(all)).run();
