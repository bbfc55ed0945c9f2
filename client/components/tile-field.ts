/** The side of a tile, and the distance between the starts of two tiles, in SVG units. */
const tileSide = 8;
const tilePitch = 10;

/** One SVG path for `count` tiles from index `from`, in rows of `columns`. */
export function rowsOfTiles(count: number, columns: number, from = 0): string {
  let path = "";
  for (let index = from; index < from + count; index += 1) {
    path += `M${(index % columns) * tilePitch} ${Math.floor(index / columns) * tilePitch}h${tileSide}v${tileSide}h-${tileSide}z`;
  }
  return path;
}

/** The size of a drawing with that many tiles in rows of `columns`. */
export function fieldSize(count: number, columns: number): { width: number; height: number } {
  const gap = tilePitch - tileSide;
  return { width: Math.min(count, columns) * tilePitch - gap, height: Math.ceil(count / columns) * tilePitch - gap };
}

/** The same in columns of `rows`, for fields that grow along the line. */
export function columnsOfTiles(count: number, rows: number, from = 0): string {
  let path = "";
  for (let index = from; index < from + count; index += 1) {
    path += `M${Math.floor(index / rows) * tilePitch} ${(index % rows) * tilePitch}h${tileSide}v${tileSide}h-${tileSide}z`;
  }
  return path;
}

export function columnsSize(count: number, rows: number): { width: number; height: number } {
  const { width, height } = fieldSize(count, rows);
  return { width: height, height: width };
}
