/**
 * Draws the sandbox's pictures: a mosaic of a landscape whose colours and shapes follow from the prompt, so that different prompts give
 * different pictures, and the same prompt a slightly different one each time. Pixels are computed here and encoded by sharp.
 */
import sharp from "sharp";
import { seededChoices } from "./reply.ts";

type Colour = readonly [red: number, green: number, blue: number];

interface Palette {
  words: RegExp;
  sky: readonly [Colour, Colour];
  light: Colour;
  ground: readonly Colour[];
}

const palettes: readonly Palette[] = [
  {
    words: /sea|ocean|water|lake|river|boat|blue|meer|海|水/i,
    sky: [
      [38, 96, 145],
      [178, 216, 226],
    ],
    light: [250, 236, 190],
    ground: [
      [46, 129, 152],
      [27, 96, 124],
      [14, 64, 92],
    ],
  },
  {
    words: /sunset|desert|autumn|fox|warm|orange|red|fire|abend|秋|夕/i,
    sky: [
      [110, 60, 96],
      [246, 178, 107],
    ],
    light: [255, 226, 150],
    ground: [
      [199, 93, 62],
      [150, 62, 58],
      [92, 38, 52],
    ],
  },
  {
    words: /forest|tree|garden|green|leaf|plant|spring|wald|garten|森|緑/i,
    sky: [
      [134, 180, 172],
      [232, 236, 205],
    ],
    light: [252, 240, 180],
    ground: [
      [116, 155, 88],
      [70, 120, 78],
      [34, 84, 66],
    ],
  },
  {
    words: /night|moon|star|space|dark|city|nacht|夜|月|星/i,
    sky: [
      [16, 22, 56],
      [74, 72, 130],
    ],
    light: [244, 240, 214],
    ground: [
      [44, 52, 104],
      [30, 34, 76],
      [16, 18, 46],
    ],
  },
  {
    words: /snow|winter|ice|mountain|white|schnee|berg|雪|山/i,
    sky: [
      [126, 156, 190],
      [228, 236, 242],
    ],
    light: [255, 250, 236],
    ground: [
      [206, 220, 232],
      [160, 184, 206],
      [98, 126, 158],
    ],
  },
  {
    words: /flower|rose|pink|love|cake|portrait|blume|花|桜/i,
    sky: [
      [214, 138, 160],
      [250, 224, 214],
    ],
    light: [255, 244, 214],
    ground: [
      [190, 96, 124],
      [140, 64, 108],
      [88, 42, 84],
    ],
  },
];

export interface Painting {
  prompt: string;
  /** Another number gives another picture of the same kind. */
  variation: number;
  width: number;
  height: number;
  transparent: boolean;
}

const mix = (from: Colour, to: Colour, share: number): Colour => [
  from[0] + (to[0] - from[0]) * share,
  from[1] + (to[1] - from[1]) * share,
  from[2] + (to[2] - from[2]) * share,
];

/** The scene without its tiles. Places are from 0 to 1, downwards. */
function sceneOf({ prompt, variation, width, height }: Painting): (x: number, y: number) => Colour {
  const kind = seededChoices(prompt);
  const choose = seededChoices(`${prompt} ${variation}`);
  const palette = palettes.find(({ words }) => words.test(prompt)) ?? palettes[kind(palettes.length)] ?? (palettes[0] as Palette);
  const aspect = width / height;
  const sun = { x: 0.2 + choose(600) / 1_000, y: 0.18 + choose(200) / 1_000, radius: 0.07 + choose(60) / 1_000 };
  const hills = palette.ground.map((colour, index) => ({
    colour,
    base: 0.5 + index * 0.16 + choose(60) / 1_000,
    waves: [1, 2.3, 5.1].map((frequency) => ({
      frequency: frequency * (1 + choose(500) / 1_000),
      phase: choose(6_283) / 1_000,
      height: (0.09 / frequency) * (1 + kind(100) / 100),
    })),
  }));
  return (x, y) => {
    const hill = hills.findLast(({ base, waves }) => {
      const crest = base - waves.reduce((sum, wave) => sum + Math.sin(x * aspect * wave.frequency * 3 + wave.phase) * wave.height, 0);
      return y > crest;
    });
    if (hill) return mix(hill.colour, palette.light, Math.max(0, 0.22 - Math.abs(x - sun.x) * 0.5));
    const distance = Math.hypot((x - sun.x) * aspect, y - sun.y);
    if (distance < sun.radius) return palette.light;
    const sky = mix(palette.sky[0], palette.sky[1], Math.min(y / 0.6, 1));
    return mix(palette.light, sky, Math.min((distance - sun.radius) * 3.2, 1));
  };
}

/** Tiles along the shorter side. */
const tilesAcross = 34;
/** Computed in this many pixels a side and enlarged, because each pixel takes its time. */
const computedSide = 640;
const blurredSide = 180;

interface Tile {
  /** Its centre, in cells. */
  u: number;
  v: number;
  colour: Colour;
  outside: boolean;
}

const beside = [-1, 0, 1] as const;

/** The tiles of all cells, and of one row and column around them, row by row. */
function tilesOf(painting: Painting, columns: number, rows: number): { tiles: readonly Tile[]; stride: number } {
  const scene = sceneOf(painting);
  const choose = seededChoices(`${painting.prompt} ${painting.variation} tiles`);
  const tilesInRows: Tile[] = [];
  for (let row = -1; row <= rows; row += 1) {
    for (let column = -1; column <= columns; column += 1) {
      const [u, v] = [column + 0.18 + choose(640) / 1_000, row + 0.18 + choose(640) / 1_000];
      const [x, y] = [u / columns, v / rows];
      const shade = 0.93 + choose(120) / 1_000;
      const [red, green, blue] = scene(x, y);
      // A picture without a background is a round medallion, cut along its tiles.
      const outside = painting.transparent && Math.hypot(u - columns / 2, v - rows / 2) > 0.46 * Math.min(columns, rows);
      tilesInRows.push({ u, v, colour: [red * shade, green * shade, blue * shade], outside });
    }
  }
  return { tiles: tilesInRows, stride: columns + 2 };
}

const grout: Colour = [236, 230, 218];

/** The nearest tile, and how much of its colour is seen: between two tiles there is grout. */
function tileAt(tiles: readonly Tile[], stride: number, u: number, v: number): { tile: Tile | undefined; share: number } {
  let nearest = 9;
  let next = 9;
  let tile: Tile | undefined;
  for (const down of beside) {
    for (const along of beside) {
      const other = tiles[(Math.floor(v) + down + 1) * stride + Math.floor(u) + along + 1];
      if (!other) continue;
      const distance = (other.u - u) ** 2 + (other.v - v) ** 2;
      if (distance < nearest) {
        next = nearest;
        nearest = distance;
        tile = other;
      } else if (distance < next) next = distance;
    }
  }
  return { tile, share: 0.3 + Math.min((Math.sqrt(next) - Math.sqrt(nearest)) / 0.16, 1) * 0.7 };
}

function pixelsOf(painting: Painting, width: number, height: number): Buffer {
  const cells = tilesAcross / Math.min(width, height);
  const { tiles, stride } = tilesOf(painting, Math.ceil(width * cells), Math.ceil(height * cells));
  const pixels = Buffer.alloc(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const { tile, share } = tileAt(tiles, stride, x * cells, y * cells);
      if (!tile) continue;
      const place = (y * width + x) * 4;
      for (let index = 0; index < 3; index += 1) {
        const [from, to] = [grout[index] ?? 0, tile.colour[index] ?? 0];
        pixels[place + index] = Math.min(255, from + (to - from) * share);
      }
      pixels[place + 3] = tile.outside ? 0 : 255;
    }
  }
  return pixels;
}

/** A PNG. `done` from 0 to 1: what is not finished is blurred. */
export async function paint(painting: Painting, done = 1): Promise<Buffer> {
  const { width, height } = painting;
  const scale = (done < 1 ? blurredSide : computedSide) / Math.max(width, height);
  const [rawWidth, rawHeight] = [Math.round(width * scale), Math.round(height * scale)];
  const raw = { width: rawWidth, height: rawHeight, channels: 4 as const };
  let picture = sharp(pixelsOf(painting, rawWidth, rawHeight), { raw });
  if (done < 1) picture = picture.blur(0.5 + (1 - done) * 5);
  return picture.resize(width, height).png({ compressionLevel: 1 }).toBuffer();
}

/** The first reference under a new mosaic: all of it shines through, or with a mask only what is transparent in the mask is new. */
export async function paintOver(painting: Painting, reference: Buffer, mask: Buffer | undefined, done = 1): Promise<Buffer> {
  const { width, height } = painting;
  const old = await sharp(reference).resize(width, height, { fit: "cover" }).flatten({ background: "white" }).raw().toBuffer();
  const fresh = await paint(painting, done);
  const kept = mask
    ? await sharp(mask).resize(width, height, { fit: "cover" }).ensureAlpha().extractChannel("alpha").raw().toBuffer()
    : Buffer.alloc(width * height, 110);
  const size = { width, height };
  const veil = await sharp(old, { raw: { ...size, channels: 3 } })
    .joinChannel(kept, { raw: { ...size, channels: 1 } })
    .png({ compressionLevel: 1 })
    .toBuffer();
  return sharp(fresh)
    .composite([{ input: veil }])
    .png({ compressionLevel: 1 })
    .toBuffer();
}
