/**
 * A picture is written as rows of letters, one letter for each place of the grid. The stones of one tone become one path:
 * a run of neighbours is one stroke, and the dashes of the stroke are the stones.
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
const openPaper = ".";

/** Stones of one size. Larger ones stand on the same grid: their side is counted in its places. */
export interface StoneField {
  picture: string;
  side?: 1 | 2 | 4;
  /** Where the field's first stone lies, in places of the grid. */
  column?: number;
  row?: number;
}

export interface StonePath {
  tone: Tone;
  /** Laid by hand, no two batches are quite alike: a part of the stones is a shade off. */
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

/** The same stones are worn on every machine and at every drawing. */
function isWorn(tone: Tone, column: number, row: number): boolean {
  if (tone === "bright" || tone === "socket") return false;
  const seed = Math.imul(column + 1, 374_761_393) ^ Math.imul(row + 1, 668_265_263);
  const mixed = Math.imul(seed ^ (seed >>> 13), 1_274_126_177);
  return ((mixed ^ (mixed >>> 16)) & 7) === 0;
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

/** Neighbours in a row become one stroke. */
function strokes(stones: readonly Stone[], field: StoneField): string {
  const pitch = placeSide * (field.side ?? 1);
  const stone = pitch - grout;
  const [left, top] = [(field.column ?? 0) * placeSide, (field.row ?? 0) * placeSide];
  let path = "";
  let next: { column: number; row: number } | undefined;
  for (const { column, row } of stones) {
    const joins = next?.row === row && next.column === column;
    path += joins ? `h${pitch}` : `M${left + column * pitch} ${top + row * pitch + stone / 2}h${stone}`;
    next = { column: column + 1, row };
  }
  return path.replace(/h\d+(?:h\d+)+/g, (steps) => `h${steps.split("h").reduce((sum, step) => sum + Number(step), 0)}`);
}

/** A place without its stone is drawn as an outline. */
function outlines(stones: readonly Stone[], field: StoneField): string {
  const pitch = placeSide * (field.side ?? 1);
  const [left, top] = [(field.column ?? 0) * placeSide, (field.row ?? 0) * placeSide];
  const inner = pitch - grout - 1;
  return stones
    .map(({ column, row }) => `M${left + column * pitch + 0.5} ${top + row * pitch + 0.5}h${inner}v${inner}h-${inner}z`)
    .join("");
}

export function layStones(field: StoneField): StonePath[] {
  const groups = new Map<string, Stone[]>();
  for (const stone of stonesOf(field.picture)) {
    const key = `${stone.tone} ${stone.worn}`;
    groups.set(key, [...(groups.get(key) ?? []), stone]);
  }
  return [...groups.values()].flatMap((stones) => {
    const [first] = stones;
    if (!first) return [];
    const d = first.tone === "socket" ? outlines(stones, field) : strokes(stones, field);
    return [{ tone: first.tone, worn: first.worn, side: placeSide * (field.side ?? 1) - grout, d }];
  });
}
