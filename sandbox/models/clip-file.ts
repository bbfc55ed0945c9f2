/** An MP4 file (ISO/IEC 14496-12 and -15) with one track of H.264, its index before its frames. */
import type { Film } from "./clip-film.ts";
import { framesPerSecond } from "./clip-film.ts";

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}

function halves(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}

function box(type: string, ...content: Buffer[]): Buffer {
  const length = content.reduce((sum, { length: bytes }) => sum + bytes, 8);
  return Buffer.concat([words(length), Buffer.from(type, "latin1"), ...content]);
}

/** No rotation and no scaling. */
const matrix = words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);
const ticksPerSecond = 12_000;
const ticksPerFrame = ticksPerSecond / framesPerSecond;
/** "und" in five bits a letter. */
const undetermined = 0x55c4;

function sampleEntry({ width, height, sequence, picture }: Film): Buffer {
  const parameters = (set: Buffer) => Buffer.concat([halves(set.length), set]);
  const head = Buffer.from([1, sequence[1] ?? 0, sequence[2] ?? 0, sequence[3] ?? 0, 0xff, 0xe1]);
  const configuration = box("avcC", head, parameters(sequence), Buffer.from([1]), parameters(picture));
  const fixed = Buffer.concat([
    Buffer.alloc(6),
    halves(1),
    Buffer.alloc(16),
    halves(width, height),
    words(0x480000, 0x480000, 0),
    halves(1),
  ]);
  return box("avc1", fixed, Buffer.alloc(32), halves(0x18, 0xffff), configuration);
}

function movie(film: Film, sizes: readonly number[], framesAt: number): Buffer {
  const { width, height } = film;
  const ticks = sizes.length * ticksPerFrame;
  const table = box(
    "stbl",
    box("stsd", words(0, 1), sampleEntry(film)),
    box("stts", words(0, 1, sizes.length, ticksPerFrame)),
    box("stss", words(0, 1, 1)),
    box("stsc", words(0, 1, 1, sizes.length, 1)),
    box("stsz", words(0, 0, sizes.length, ...sizes)),
    box("stco", words(0, 1, framesAt)),
  );
  const handler = box("hdlr", words(0, 0), Buffer.from("vide", "latin1"), words(0, 0, 0), Buffer.from([0]));
  const information = box("minf", box("vmhd", words(1, 0, 0)), box("dinf", box("dref", words(0, 1), box("url ", words(1)))), table);
  const media = box("mdia", box("mdhd", words(0, 0, 0, ticksPerSecond, ticks), halves(undetermined, 0)), handler, information);
  const trackHead = box("tkhd", words(3, 0, 0, 1, 0, ticks, 0, 0, 0, 0), matrix, words(width << 16, height << 16));
  const movieHead = box("mvhd", words(0, 0, 0, ticksPerSecond, ticks, 0x10000, 0x1000000, 0, 0), matrix, words(0, 0, 0, 0, 0, 0, 2));
  return box("moov", movieHead, box("trak", trackHead, media));
}

export function toMp4(film: Film): Buffer {
  const frames = film.frames.map((frame) => Buffer.concat([words(frame.length), frame]));
  const sizes = frames.map(({ length }) => length);
  const type = box("ftyp", Buffer.from("isom", "latin1"), words(0x200), Buffer.from("isomiso2avc1mp41", "latin1"));
  // The index has the same length wherever the frames begin, so it can be measured with 0.
  const before = type.length + movie(film, sizes, 0).length + 8;
  return Buffer.concat([type, movie(film, sizes, before), box("mdat", ...frames)]);
}
