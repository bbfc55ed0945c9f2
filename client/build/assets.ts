/** Finds the files that the bundler made from each source. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

interface Chunk {
  file: string;
  imports?: string[];
  css?: string[];
  isEntry?: boolean;
}

export interface Assets {
  /**
   * The scripts and styles that a page needs besides those of the entry: those of its sources, of the parts that have a chunk,
   * and the styles of every class in its HTML.
   */
  filesOf(page: { sources: readonly string[]; parts: readonly string[]; html: string }): { scripts: string[]; styles: string[] };
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

/** Maps each class to its file. Class names of CSS modules contain a hash, so each belongs to one file. */
async function classesOf(folder: string): Promise<Map<string, string>> {
  const owners = new Map<string, string>();
  for (const file of (await readdir(path.join(folder, "assets"))).filter((name) => name.endsWith(".css"))) {
    const css = await readFile(path.join(folder, "assets", file), "utf8");
    for (const [, name = ""] of css.matchAll(/\.(_[\w-]+)/g)) owners.set(name, `assets/${file}`);
  }
  return owners;
}

function stylesIn(html: string, classes: ReadonlyMap<string, string>): Set<string> {
  const names = new Set([...html.matchAll(/class="([^"]*)"/g)].flatMap(([, list = ""]) => list.split(" ")));
  return new Set([...names].flatMap((name) => classes.get(name) ?? []));
}

/** Reads the bundler's manifest in `folder`. A source without a chunk fails the build. */
export async function readAssets(folder: string): Promise<Assets> {
  const manifest = JSON.parse(await readFile(path.join(folder, ".vite/manifest.json"), "utf8")) as Record<string, Chunk>;
  const fonts = (await readdir(path.join(folder, "assets"))).filter((file) => /^spectral-.*\.woff2$/.test(file));
  const entry = new Set<string>();
  for (const [key, chunk] of Object.entries(manifest)) if (chunk.isEntry) reach(manifest, key, entry);

  const brought = new Set([...entry].flatMap((key) => manifest[key]?.css ?? []));
  const classes = await classesOf(folder);

  return {
    filesOf({ sources, parts, html }) {
      const reached = new Set<string>();
      for (const source of sources) if (!manifest[source]) throw new Error(`${source} has no chunk of its own`);
      for (const source of [...sources, ...parts]) reach(manifest, source, reached);
      const chunks = [...reached].filter((key) => !entry.has(key)).flatMap((key) => manifest[key] ?? []);
      const styles = new Set([...chunks.flatMap(({ css = [] }) => css), ...stylesIn(html, classes)]);
      return {
        scripts: [...new Set(chunks.map(({ file }) => `/${file}`))],
        styles: [...styles].filter((file) => !brought.has(file)).map((file) => `/${file}`),
      };
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
