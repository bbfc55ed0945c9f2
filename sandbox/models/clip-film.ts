/**
 * Draws a film in H.264's baseline profile, which every browser plays. The first frame is not compressed (I_PCM, ITU-T H.264 §7.3.5). Each
 * later frame has only the blocks that have changed; the others are marked as unchanged (P_Skip).
 */
import { createHash } from "node:crypto";
import { BitWriter, nalUnit } from "./clip-bits.ts";

/** Side of a macroblock in pixels. */
const side = 16;
const lumaBytes = side * side;
const chromaBytes = lumaBytes / 4;
const pcmInIntraFrame = 25;
const pcmInPredictedFrame = 30;
const frameNumberBits = 8;
export const framesPerSecond = 12;

/** A whole picture to begin with: red, green and blue of each pixel. */
export interface FirstPicture {
  rgb: Uint8Array;
}

export interface Film {
  width: number;
  height: number;
  /** The parameter sets, for the head of the file. */
  sequence: Buffer;
  picture: Buffer;
  frames: readonly Buffer[];
}

type Colour = readonly [red: number, green: number, blue: number];

/** Rec. 601 in the range of television, so no byte is 0. */
function toVideo([red, green, blue]: Colour): [number, number, number] {
  return [
    Math.round(16 + 0.257 * red + 0.504 * green + 0.098 * blue),
    Math.round(128 - 0.148 * red - 0.291 * green + 0.439 * blue),
    Math.round(128 + 0.439 * red - 0.368 * green - 0.071 * blue),
  ];
}

/** A macroblock: the brightness of its pixels, and the two colours of every four of them. */
function blockOf(colourAt: (x: number, y: number) => Colour): Buffer {
  const block = Buffer.alloc(lumaBytes + 2 * chromaBytes);
  for (let y = 0; y < side; y += 1)
    for (let x = 0; x < side; x += 1) {
      const [luma, blue, red] = toVideo(colourAt(x, y));
      block[y * side + x] = luma;
      if (x % 2 === 1 || y % 2 === 1) continue;
      const place = (y / 2) * (side / 2) + x / 2;
      block[lumaBytes + place] = blue;
      block[lumaBytes + chromaBytes + place] = red;
    }
  return block;
}

function plain(colour: Colour): Buffer {
  return blockOf(() => colour);
}

function sequenceSet(columns: number, rows: number): Buffer {
  const bits = new BitWriter();
  // Baseline profile, also for decoders of the constrained one; level 3.1 is for 1280 × 720.
  for (const byte of [66, 0xc0, 31]) bits.bits(byte, 8);
  bits.unsigned(0);
  bits.unsigned(frameNumberBits - 4);
  // Frames are shown in the order in which they come, and refer to the one before.
  bits.unsigned(2);
  bits.unsigned(1);
  bits.bits(0, 1);
  bits.unsigned(columns - 1);
  bits.unsigned(rows - 1);
  // Whole frames, direct_8x8_inference, no cropping, no further information.
  bits.bits(0b1100, 4);
  return nalUnit(0x67, bits.finish());
}

function pictureSet(): Buffer {
  const bits = new BitWriter();
  bits.unsigned(0);
  bits.unsigned(0);
  bits.bits(0, 2);
  for (let index = 0; index < 3; index += 1) bits.unsigned(0);
  bits.bits(0, 3);
  for (let index = 0; index < 3; index += 1) bits.signedZero();
  // Slices say whether they are smoothed; no constrained prediction, no redundant pictures.
  bits.bits(0b100, 3);
  return nalUnit(0x68, bits.finish());
}

const unsmoothed = 1;

function firstFrame(blocks: readonly Buffer[]): Buffer {
  const bits = new BitWriter();
  bits.unsigned(0);
  bits.unsigned(7);
  bits.unsigned(0);
  bits.bits(0, frameNumberBits);
  bits.unsigned(0);
  bits.bits(0, 2);
  bits.signedZero();
  bits.unsigned(unsmoothed);
  for (const block of blocks) {
    bits.unsigned(pcmInIntraFrame);
    bits.aligned(block);
  }
  return nalUnit(0x65, bits.finish());
}

/** `changed`: the blocks that differ from the frame before, by their macroblock numbers. */
function laterFrame(number: number, count: number, changed: ReadonlyMap<number, Buffer>): Buffer {
  const bits = new BitWriter();
  bits.unsigned(0);
  bits.unsigned(5);
  bits.unsigned(0);
  bits.bits(number % 2 ** frameNumberBits, frameNumberBits);
  bits.bits(0, 3);
  bits.signedZero();
  bits.unsigned(unsmoothed);
  let skipped = 0;
  for (let index = 0; index < count; index += 1) {
    const block = changed.get(index);
    if (!block) {
      skipped += 1;
      continue;
    }
    bits.unsigned(skipped);
    skipped = 0;
    bits.unsigned(pcmInPredictedFrame);
    bits.aligned(block);
  }
  if (skipped > 0) bits.unsigned(skipped);
  return nalUnit(0x41, bits.finish());
}

/** Evening colours that follow from the prompt. */
function paletteOf(prompt: string): (share: number) => Colour {
  const [hue = 0, other = 0] = createHash("sha256").update(prompt).digest();
  const from: Colour = [40 + (hue % 90), 50 + (other % 70), 110 + ((hue + other) % 110)];
  const to: Colour = [235, 140 + (other % 90), 70 + (hue % 110)];
  return (share) => from.map((value, index) => value + ((to[index] ?? 0) - value) * share) as unknown as Colour;
}

/** A sun that crosses the sky, or the given picture. Width and height are multiples of 16. */
export function drawFilm(size: { width: number; height: number }, seconds: number, prompt: string, first?: FirstPicture): Film {
  const { width, height } = size;
  const [columns, rows] = [width / side, height / side];
  const palette = paletteOf(prompt);
  const skies = Array.from({ length: rows }, (_, row) => plain(palette(row / Math.max(rows - 1, 1))));
  const pictured = ({ rgb }: FirstPicture, column: number, row: number) =>
    blockOf((x, y) => {
      const at = ((row * side + y) * width + column * side + x) * 3;
      return [rgb[at] ?? 0, rgb[at + 1] ?? 0, rgb[at + 2] ?? 0];
    });
  const empty = Buffer.alloc(0);
  const background = Array.from({ length: columns * rows }, (_, index) => {
    const [column, row] = [index % columns, Math.floor(index / columns)];
    return first ? pictured(first, column, row) : (skies[row] ?? empty);
  });
  const sun = plain([255, 236, 180]);
  const frameCount = seconds * framesPerSecond;
  const radius = Math.max(2, Math.min(columns, rows) / 9);
  const sunAt = (frame: number): Set<number> => {
    const share = frame / Math.max(frameCount - 1, 1);
    const [middleX, middleY] = [share * (columns - 1), rows * (0.65 - 0.4 * Math.sin(Math.PI * share))];
    const covered = new Set<number>();
    for (let row = 0; row < rows; row += 1)
      for (let column = 0; column < columns; column += 1)
        if (Math.hypot(column - middleX, row - middleY) <= radius) covered.add(row * columns + column);
    return covered;
  };
  let before = sunAt(0);
  const frames = [firstFrame(background.map((block, index) => (before.has(index) ? sun : block)))];
  for (let frame = 1; frame < frameCount; frame += 1) {
    const now = sunAt(frame);
    const changed = new Map<number, Buffer>();
    for (const index of before) if (!now.has(index)) changed.set(index, background[index] ?? empty);
    for (const index of now) if (!before.has(index)) changed.set(index, sun);
    frames.push(laterFrame(frame, columns * rows, changed));
    before = now;
  }
  return { width, height, sequence: sequenceSet(columns, rows), picture: pictureSet(), frames };
}
