/**
 * The pattern of a model's tile, generated from the model's id, so that it is the same everywhere. A quarter of the field is
 * random, with the id as the seed, and is mirrored along the diagonal and both axes, as in floor mosaics.
 */
const half = 4;
export const fieldCells = half * 2;
/** The gap on every side of a cell, as a share of the cell. */
const grout = 0.045;

type Stone = "ground" | "pale" | "figure";
type Cut = "square" | "toCentre" | "toCorner";
interface Cell {
  stone: Stone;
  under: Stone;
  cut: Cut;
}

/** Random numbers: FNV-1a makes the seed, xorshift the sequence. Small, and the same on every machine. */
function drawsFrom(seed: string): () => number {
  let state = 2_166_136_261;
  for (const character of seed) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
}

function pick(draw: number, shares: readonly (readonly [Stone, number])[]): Stone {
  let sum = 0;
  for (const [stone, share] of shares) {
    sum += share;
    if (draw < sum) return stone;
  }
  return "ground";
}

function chooseCell(draw: () => number, onDiagonal: boolean): Cell {
  const stone = pick(draw(), [
    ["figure", 0.4],
    ["pale", 0.28],
  ]);
  const cut: Cut = draw() < (onDiagonal ? 0.5 : 0.35) ? (draw() < 0.5 ? "toCentre" : "toCorner") : "square";
  const under: Stone = stone === "figure" ? (draw() < 0.6 ? "ground" : "pale") : stone === "pale" ? "ground" : "pale";
  // Half-cut stones are allowed only on the diagonal, where both halves meet; elsewhere they would break the mirror line.
  return { stone, under, cut: onDiagonal ? cut : "square" };
}

function square(x: number, y: number): string {
  const size = 1 - 2 * grout;
  return `M${x + grout} ${y + grout}h${size}v${size}h${-size}z`;
}

/** The half of a cell towards the corner with these signs, as seen from the cell's centre. */
function triangle(x: number, y: number, signX: number, signY: number): string {
  const [middleX, middleY] = [x + 0.5, y + 0.5];
  const reach = 0.5 - grout;
  const slack = grout * 1.4;
  const cornerX = middleX + signX * reach;
  const cornerY = middleY + signY * reach;
  return `M${cornerX} ${cornerY}L${middleX - signX * (reach - slack)} ${cornerY}L${cornerX} ${middleY - signY * (reach - slack)}z`;
}

/** Draws again until the share of the figure's stones is right: too few look empty, too many like a block. */
function quarter(seed: string): Cell[][] {
  const draw = drawsFrom(seed);
  for (let warmUp = 0; warmUp < 8; warmUp += 1) draw();
  for (;;) {
    const cells = drawQuarter(draw);
    const figures = cells.flat().filter((cell) => cell.stone === "figure").length;
    if (figures >= 5 && figures <= 8) return cells;
  }
}

function drawQuarter(draw: () => number): Cell[][] {
  const cells: Cell[][] = Array.from({ length: half }, () => []);
  for (let row = 0; row < half; row += 1) {
    for (let column = row; column < half; column += 1) {
      const cell = chooseCell(draw, row === column);
      (cells[row] ?? [])[column] = cell;
      (cells[column] ?? [])[row] = cell;
    }
  }
  return cells;
}

/** One SVG path for each stone, in a field of `fieldCells` × `fieldCells` units. */
export function patternPaths(seed: string): Record<Stone, string> {
  const cells = quarter(seed);
  const paths: Record<Stone, string> = { ground: "", pale: "", figure: "" };
  for (let y = 0; y < fieldCells; y += 1) {
    for (let x = 0; x < fieldCells; x += 1) {
      const [signX, signY] = [x < half ? -1 : 1, y < half ? -1 : 1];
      const cell = cells[y < half ? half - 1 - y : y - half]?.[x < half ? half - 1 - x : x - half];
      if (!cell) continue;
      if (cell.cut === "square") {
        paths[cell.stone] += square(x, y);
        continue;
      }
      const outward = cell.cut === "toCorner" ? 1 : -1;
      paths[cell.stone] += triangle(x, y, signX * outward, signY * outward);
      paths[cell.under] += triangle(x, y, -signX * outward, -signY * outward);
    }
  }
  return paths;
}
