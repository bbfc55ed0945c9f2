/**
 * A picture is written as rows of letters, one for each place of the grid. All stones of one tone become one SVG path:
 * neighbouring stones form one stroke, whose dashes are the stones.
 */
export const placeSide = 20;
export const grout = 3;
export const pictureColumns = 48;
export const pictureRows = 20;

export type Tone = "ground" | "pale" | "middle" | "dark" | "support" | "bright" | "socket";

const tones: Readonly<Record<string, Tone>> = {
  g: "ground",
  p: "pale",
  m: "middle",
  d: "dark",
  s: "support",
  x: "bright",
  o: "socket",
};
const drawnTones = Object.values(tones);
const openPaper = ".";

/** Stones of one size. Larger ones use the same grid: their side is given in grid places. */
export interface StoneField {
  picture: string;
  side?: 1 | 2 | 4;
  /** The position of the field's first stone, in grid places. */
  column?: number;
  row?: number;
}

export interface StonePath {
  tone: Tone;
  /** Some stones are a shade lighter, as in a mosaic made by hand. */
  worn: boolean;
  side: number;
  d: string;
}

interface Stone {
  tone: Tone;
  worn: boolean;
  column: number;
  row: number;
}

/** Where a field begins and how far apart its stones are, in SVG units. */
interface Grid {
  left: number;
  top: number;
  pitch: number;
}

/** Deterministic, so that the same stones are worn in every rendering. */
function isWorn(tone: Tone, column: number, row: number): boolean {
  if (tone === "bright" || tone === "socket") return false;
  const seed = Math.imul(column + 1, 374_761_393) ^ Math.imul(row + 1, 668_265_263);
  const mixed = Math.imul(seed ^ (seed >>> 13), 1_274_126_177);
  return ((mixed ^ (mixed >>> 16)) & 7) === 3;
}

function stonesOf(picture: string): Stone[] {
  const lines = picture.trim().split("\n");
  return lines.flatMap((line, row) =>
    [...line].flatMap((letter, column) => {
      if (letter === openPaper) return [];
      const tone = tones[letter];
      if (!tone) throw new Error(`No stone is called "${letter}" (row ${row}, column ${column}).`);
      return [{ tone, worn: isWorn(tone, column, row), column, row }];
    }),
  );
}

/** Joins neighbours in a row into one stroke. */
function strokes(stones: readonly Stone[], { left, top, pitch }: Grid): string {
  const runs: { column: number; row: number; count: number }[] = [];
  for (const { column, row } of stones) {
    const last = runs.at(-1);
    if (last && last.row === row && last.column + last.count === column) last.count += 1;
    else runs.push({ column, row, count: 1 });
  }
  const middle = top + (pitch - grout) / 2;
  return runs.map(({ column, row, count }) => `M${left + column * pitch} ${middle + row * pitch}h${count * pitch - grout}`).join("");
}

/** Draws a place without its stone as an outline. */
function outlines(stones: readonly Stone[], { left, top, pitch }: Grid): string {
  const side = pitch - grout - 1;
  return stones.map(({ column, row }) => `M${left + column * pitch + 0.5} ${top + row * pitch + 0.5}h${side}v${side}h-${side}z`).join("");
}

function gridOf({ side = 1, column = 0, row = 0 }: StoneField): Grid {
  return { left: column * placeSide, top: row * placeSide, pitch: side * placeSide };
}

/** Groups the stones by appearance, with one path for each group. */
export function layStones(field: StoneField): StonePath[] {
  const grid = gridOf(field);
  const stones = stonesOf(field.picture);
  return drawnTones.flatMap((tone) =>
    [false, true].flatMap((worn) => {
      const batch = stones.filter((stone) => stone.tone === tone && stone.worn === worn);
      if (batch.length === 0) return [];
      return [{ tone, worn, side: grid.pitch - grout, d: tone === "socket" ? outlines(batch, grid) : strokes(batch, grid) }];
    }),
  );
}
