/**
 * Draws the Open Graph picture of each public page, which link previews show. Run `node scripts/make-og-pictures.ts` when a title,
 * the mark or the patterns change, and commit the results. The build finds each picture by the page's address.
 */
import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { chromium } from "playwright-core";
import { fieldCells, patternPaths } from "#client/components/mosaic-pattern.ts";
import { catalogueAsOf, modelsAt, startOf } from "#domain/models.ts";

const root = path.join(import.meta.dirname, "..");
const pictures = path.join(root, "client/public/og");
const largestBytes = 60 * 1024;

/** The light colours of client/components/tokens.css. */
const paper = "oklch(0.975 0.008 83)";
const ink = "oklch(0.25 0.018 50)";
const inkSoft = "oklch(0.45 0.02 55)";
const accent = "oklch(0.54 0.155 36)";
const ground = "oklch(0.91 0.018 82)";
const pale = "oklch(0.84 0.026 80)";
const stones = {
  text: "oklch(0.42 0.022 55)",
  image: "oklch(0.66 0.09 48)",
  audio: "oklch(0.52 0.06 185)",
  video: "oklch(0.69 0.09 82)",
  search: "oklch(0.51 0.05 245)",
} as const;

interface Card {
  file: string;
  kicker: string;
  title: string;
}

async function readTexts(namespace: string): Promise<Record<string, never>> {
  return JSON.parse(await readFile(path.join(root, `client/i18n/locales/en/${namespace}.json`), "utf8")) as Record<string, never>;
}

/** Guides, articles and legal pages, with the titles of their front matter. */
async function readPieces(): Promise<Card[]> {
  const folder = path.join(root, "client/content/en");
  const kickers: Readonly<Record<string, string>> = { guide: "Guide", article: "Blog", legal: "Legal" };
  const cards: Card[] = [];
  for (const name of (await readdir(folder)).filter((file) => file.endsWith(".md"))) {
    const text = await readFile(path.join(folder, name), "utf8");
    const field = (key: string) => new RegExp(`^${key}: *"?(.*?)"?$`, "m").exec(text)?.[1] ?? "";
    const slug = name.replace(/\.md$/, "");
    const kind = field("kind");
    cards.push({ file: kind === "article" ? `blog-${slug}` : slug, kicker: kickers[kind] ?? "", title: field("title") });
  }
  return cards;
}

async function allCards(): Promise<Card[]> {
  const [home, pricing, about, contact, reading, chat, auth] = await Promise.all(
    ["home", "pricing", "about", "contact", "reading", "chat", "auth"].map(readTexts),
  );
  const heading = (texts: Record<string, never> | undefined, key: string) =>
    key.split(".").reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], texts) as string;
  return [
    { file: "home", kicker: "", title: heading(home, "hero.title_other").replace("{{count}}", "15+") },
    { file: "pricing", kicker: "Pricing", title: heading(pricing, "heading") },
    { file: "about", kicker: "About", title: heading(about, "heading") },
    { file: "contact", kicker: "Contact", title: heading(contact, "heading") },
    { file: "ai-models", kicker: "", title: heading(chat, "title") },
    { file: "auth", kicker: "", title: heading(auth, "signIn.title") },
    { file: "blog", kicker: "", title: heading(reading, "blog.title") },
    ...(await readPieces()),
  ];
}

function tile(seed: string, figure: string, x: number, y: number, side: number): string {
  const paths = patternPaths(seed);
  const layers = [
    [ground, paths.ground],
    [pale, paths.pale],
    [figure, paths.figure],
  ];
  const drawn = layers.map(([fill, d]) => `<path fill="${fill}" d="${d}"/>`).join("");
  return `<g transform="translate(${x} ${y}) scale(${side / fieldCells})">${drawn}</g>`;
}

/** The home page's picture: the patterns of fifteen models, and the highlighted tile among them. */
function allModels(): string {
  const side = 108;
  const step = 118;
  const models = modelsAt(startOf(catalogueAsOf)).slice(0, 15);
  const places = [...models.slice(0, 10), null, ...models.slice(10)];
  return places
    .map((model, index) => {
      const [x, y] = [(index % 4) * step, Math.floor(index / 4) * step];
      return model
        ? tile(model.id, stones[model.category], x, y, side)
        : `<rect x="${x}" y="${y}" width="${side}" height="${side}" fill="${accent}"/>`;
    })
    .join("");
}

/** A large pattern for a page, generated from the page's name so that every page has a different one. */
function ownTile(file: string): string {
  const colours = Object.values(stones);
  const colour = colours[[...file].reduce((sum, character) => sum + character.charCodeAt(0), 0) % colours.length] ?? stones.text;
  return `${tile(file, colour, 0, 0, 462)}<rect x="406.5" y="406.5" width="53" height="53" fill="${accent}"/>`;
}

/** Uses typographic apostrophes, and prevents a line break within "GPT-5". */
function set(title: string): string {
  return title.replaceAll("'", "’").replaceAll(/\w+-\d+/g, "<nobr>$&</nobr>");
}

function page({ file, kicker, title }: Card, font: string): string {
  const size = title.length > 60 ? 50 : title.length > 36 ? 58 : 70;
  const mark = `<path fill="${ink}" d="M0 0h9v9H0zM10 0h9v9h-9zM20 0h9v9h-9zM10 10h9v9h-9zM10 20h9v9h-9z"/><path fill="${accent}" d="M20 20h9v9h-9z"/>`;
  return `<style>
    @font-face { font-family: Spectral; font-weight: 500; src: url(data:font/woff2;base64,${font}); }
    * { margin: 0; box-sizing: border-box; }
    body { inline-size: 1200px; block-size: 630px; padding: 84px; display: flex; gap: 72px; background: ${paper}; color: ${ink}; font-family: Spectral; }
    div { flex: 1; display: flex; flex-direction: column; }
    header { display: flex; align-items: center; gap: 18px; font-size: 34px; }
    h1 { margin-block: auto; font-size: ${size}px; font-weight: 500; line-height: 1.12; letter-spacing: -0.015em; text-wrap: balance; }
    p { block-size: 34px; font-size: 26px; color: ${inkSoft}; }
    svg { flex: none; }
  </style>
  <div><header><svg width="38" height="38" viewBox="0 0 29 29">${mark}</svg>Tessera</header><h1>${set(title)}</h1><p>${kicker}</p></div>
  <svg width="462" height="462" viewBox="0 0 462 462">${file === "home" ? allModels() : ownTile(file)}</svg>`;
}

const font = await readFile(path.join(root, "node_modules/@fontsource/spectral/files/spectral-latin-500-normal.woff2"), "base64");
await mkdir(pictures, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const tab = await browser.newPage({ viewport: { width: 1200, height: 630 } });
  for (const card of await allCards()) {
    await tab.setContent(page(card, font));
    await tab.evaluate("document.fonts.ready");
    const file = path.join(pictures, `${card.file}.png`);
    await tab.screenshot({ path: file });
    const { size } = await stat(file);
    if (size > largestBytes) throw new Error(`${card.file}.png has ${size} bytes; at most ${largestBytes} may be committed`);
  }
} finally {
  await browser.close();
}
