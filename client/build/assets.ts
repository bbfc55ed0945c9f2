/** Finds the files that the bundler made from each source. */
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { DrawnPage } from "../prerender.tsx";

interface Chunk {
  file: string;
  imports?: string[];
  css?: string[];
  isEntry?: boolean;
}

interface PageFiles {
  frameScripts: string[];
  contentScripts: string[];
  styles: string[];
}

export interface Assets {
  /**
   * What a page needs besides the files of the entry: the scripts of its frame and its content, and the styles of both and of every class
   * in its HTML.
   */
  filesOf(page: Pick<DrawnPage, "frameSources" | "sources" | "parts" | "html">): PageFiles;
  /**
   * The file in which the build has joined these styles, if any: each file costs a slow phone main-thread time and delays its first
   * paint.
   */
  sheetOf(styles: readonly string[]): Promise<string | undefined>;
  /** Fonts for the page's headings, by the scripts of its languages: a piece may be in another language than its page. */
  fontsOf(page: { language: string; html: string }): string[];
}

/** Chinese and Japanese headings use system fonts (components/fonts.css). */
const scripts: Readonly<Record<string, readonly string[]>> = {
  zh: [],
  ja: [],
  ru: ["latin", "cyrillic"],
  pl: ["latin", "latin-ext"],
  ro: ["latin", "latin-ext"],
};

function reach(manifest: Readonly<Record<string, Chunk>>, key: string, seen: Set<string>): void {
  const chunk = manifest[key];
  if (!chunk || seen.has(key)) return;
  seen.add(key);
  for (const imported of chunk.imports ?? []) reach(manifest, imported, seen);
}

const sheetPrefix = "sheet-";

/** Maps each class to its file. Class names of CSS modules contain a hash, so each belongs to one file. */
async function classesOf(folder: string): Promise<Map<string, string>> {
  const owners = new Map<string, string>();
  for (const file of (await readdir(path.join(folder, "assets"))).filter(
    (name) => name.endsWith(".css") && !name.startsWith(sheetPrefix),
  )) {
    const css = await readFile(path.join(folder, "assets", file), "utf8");
    for (const [, name = ""] of css.matchAll(/\.(_[\w-]+)/g)) owners.set(name, `assets/${file}`);
  }
  return owners;
}

function stylesIn(html: string, classes: ReadonlyMap<string, string>): Set<string> {
  const names = new Set([...html.matchAll(/class="([^"]*)"/g)].flatMap(([, list = ""]) => list.split(" ")));
  return new Set([...names].flatMap((name) => classes.get(name) ?? []));
}

function scriptsOf(chunks: readonly Chunk[]): string[] {
  return [...new Set(chunks.map(({ file }) => `/${file}`))];
}

/** Names of styles have a hash of their content, so a hash of them names their sheet. */
function sheetNameOf(styles: readonly string[]): string {
  return `/assets/${sheetPrefix}${createHash("sha256").update(styles.join(" ")).digest("base64url").slice(0, 8)}.css`;
}

/**
 * Reads the bundler's manifest in `folder`. A source without a chunk fails the build. `joins`: whether to write joined sheets that are
 * missing. The build does; a server only uses those that are there.
 */
export async function readAssets(folder: string, joins: boolean): Promise<Assets> {
  const manifest = JSON.parse(await readFile(path.join(folder, ".vite/manifest.json"), "utf8")) as Record<string, Chunk>;
  const fonts = (await readdir(path.join(folder, "assets"))).filter((file) => /^spectral-.*\.woff2$/.test(file));
  const entry = new Set<string>();
  for (const [key, chunk] of Object.entries(manifest)) if (chunk.isEntry) reach(manifest, key, entry);

  const sheets = new Set(await readdir(path.join(folder, "assets")).then((files) => files.map((file) => `/assets/${file}`)));
  const brought = new Set([...entry].flatMap((key) => manifest[key]?.css ?? []));
  const classes = await classesOf(folder);

  const chunksOf = (sources: readonly string[]): Chunk[] => {
    const reached = new Set<string>();
    for (const source of sources) reach(manifest, source, reached);
    return [...reached].filter((key) => !entry.has(key)).flatMap((key) => manifest[key] ?? []);
  };

  return {
    filesOf({ frameSources, sources, parts, html }) {
      for (const source of [...frameSources, ...sources]) if (!manifest[source]) throw new Error(`${source} has no chunk of its own`);
      const frame = chunksOf(frameSources);
      const content = chunksOf([...sources, ...parts]).filter((chunk) => !frame.includes(chunk));
      const styles = new Set([...[...frame, ...content].flatMap(({ css = [] }) => css), ...stylesIn(html, classes)]);
      return {
        frameScripts: scriptsOf(frame),
        contentScripts: scriptsOf(content),
        styles: [...styles].filter((file) => !brought.has(file)).map((file) => `/${file}`),
      };
    },
    async sheetOf(styles) {
      if (styles.length < 2) return undefined;
      const sheet = sheetNameOf(styles);
      if (!sheets.has(sheet) && !joins) return undefined;
      if (!sheets.has(sheet)) {
        const texts = await Promise.all(styles.map((file) => readFile(path.join(folder, file), "utf8")));
        await writeFile(path.join(folder, sheet), texts.join("\n"));
        sheets.add(sheet);
      }
      return sheet;
    },
    fontsOf({ language, html }) {
      const languages = [language, ...[...html.matchAll(/<(?:article|h[1-4])\b[^>]* lang="([^"]+)"/g)].map(([, code = ""]) => code)];
      const letters = new Set(languages.flatMap((code) => scripts[code] ?? ["latin"]));
      return [...letters].flatMap((script) =>
        fonts.filter((file) => file.startsWith(`spectral-${script}-500`)).map((file) => `/assets/${file}`),
      );
    },
  };
}
