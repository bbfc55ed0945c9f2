/**
 * Draws the mark (client/features/frame/mark.tsx) into the icon files that the manifest and browsers need. Run
 * `node scripts/make-icons.ts` when the mark changes, and commit the results.
 */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { chromium } from "playwright-core";

const publicFolder = path.join(import.meta.dirname, "../client/public");
const paper = "#f9f6f0";
const ink = "#2b231e";
const bright = "#b04a2d";

const stones = "M0 0h9v9H0zM10 0h9v9h-9zM20 0h9v9h-9zM10 10h9v9h-9zM10 20h9v9h-9z";
const brightStone = "M20 20h9v9h-9z";

/** `share`: the mark's part of the side length; the rest is margin. (A maskable icon may be cropped to a circle of 80 %.) */
function drawing(side: number, share: number, ground: string | null, radius: number): string {
  const scale = (side * share) / 29;
  const offset = (side - 29 * scale) / 2;
  const back = ground ? `<rect width="${side}" height="${side}" rx="${radius * side}" fill="${ground}"/>` : "";
  const figure = `<path fill="${ink}" d="${stones}"/><path fill="${bright}" d="${brightStone}"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}" viewBox="0 0 ${side} ${side}">${back}<g transform="translate(${offset} ${offset}) scale(${scale})">${figure}</g></svg>`;
}

const icons = [
  { file: "icons/icon-192.png", side: 192, share: 0.62, radius: 0.12, clear: true },
  { file: "icons/icon-512.png", side: 512, share: 0.62, radius: 0.12, clear: true },
  { file: "icons/maskable-192.png", side: 192, share: 0.46, radius: 0, clear: false },
  { file: "icons/maskable-512.png", side: 512, share: 0.46, radius: 0, clear: false },
  { file: "icons/apple-touch-icon.png", side: 180, share: 0.56, radius: 0, clear: false },
];

/** The icon of each shortcut in the manifest: which tiles of a four-by-four field are filled, and which one is highlighted. */
const shortcuts = [
  { name: "chat", rows: ["1111", "1111", "1110", "1002"] },
  { name: "credits", rows: ["1110", "1120", "1111", "1111"] },
  { name: "saved", rows: ["0110", "0110", "1221", "0110"] },
];

function shortcutDrawing(side: number, rows: readonly string[]): string {
  const cell = (side * 0.6) / 4;
  const offset = (side - 4 * cell) / 2;
  const colours: Readonly<Record<string, string>> = { "1": ink, "2": bright };
  const stonesOf = (row: string, y: number) =>
    [...row].map((stone, x) => {
      const colour = colours[stone];
      const [left, top, width] = [offset + x * cell + 1, offset + y * cell + 1, cell - 2];
      return colour ? `<rect x="${left}" y="${top}" width="${width}" height="${width}" fill="${colour}"/>` : "";
    });
  const ground = `<rect width="${side}" height="${side}" fill="${paper}"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}">${ground}${rows.flatMap(stonesOf).join("")}</svg>`;
}

const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 29 29"><title>Tessera</title><style>.stones{fill:${ink}}.bright{fill:${bright}}@media(prefers-color-scheme:dark){.stones{fill:#ece6dc}}</style><path class="stones" d="${stones}"/><path class="bright" d="${brightStone}"/></svg>\n`;

await mkdir(path.join(publicFolder, "icons"), { recursive: true });
await writeFile(path.join(publicFolder, "favicon.svg"), favicon);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

async function picture(file: string, side: number, clear: boolean, svg: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: side, height: side } });
  await page.setContent(`<style>*{margin:0}svg{display:block}</style>${svg}`);
  await page.screenshot({ path: path.join(publicFolder, file), omitBackground: clear });
  await page.close();
}

try {
  for (const { file, side, share, radius, clear } of icons) await picture(file, side, clear, drawing(side, share, paper, radius));
  for (const { name, rows } of shortcuts) await picture(`icons/shortcut-${name}.png`, 96, false, shortcutDrawing(96, rows));
} finally {
  await browser.close();
}
