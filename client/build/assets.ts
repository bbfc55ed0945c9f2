/** What the bundler made of which source. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

interface Chunk {
  file: string;
  imports?: string[];
  css?: string[];
  isEntry?: boolean;
}

export interface Assets {
  /** The scripts and styles that live sources need, without those the entry brings itself. */
  filesOf(sources: readonly string[]): { scripts: string[]; styles: string[] };
  /** Fonts for the headings of a language, by the letters it needs. */
  fontsOf(language: string): string[];
}

/** Chinese and Japanese headings stand in the system's faces (components/fonts.css). */
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

/** Reads the bundler's manifest in `folder`. Asking for a source that has no chunk is a fault of the build. */
export async function readAssets(folder: string): Promise<Assets> {
  const manifest = JSON.parse(await readFile(path.join(folder, ".vite/manifest.json"), "utf8")) as Record<string, Chunk>;
  const fonts = (await readdir(path.join(folder, "assets"))).filter((file) => /^spectral-.*\.woff2$/.test(file));
  const entry = new Set<string>();
  for (const [key, chunk] of Object.entries(manifest)) if (chunk.isEntry) reach(manifest, key, entry);

  return {
    filesOf(sources) {
      const reached = new Set<string>();
      for (const source of sources) {
        if (!manifest[source]) throw new Error(`${source} has no chunk of its own`);
        reach(manifest, source, reached);
      }
      const chunks = [...reached].filter((key) => !entry.has(key)).flatMap((key) => manifest[key] ?? []);
      return {
        scripts: [...new Set(chunks.map(({ file }) => `/${file}`))],
        styles: [...new Set(chunks.flatMap(({ css = [] }) => css.map((file) => `/${file}`)))],
      };
    },
    fontsOf: (language) =>
      (scripts[language] ?? ["latin"]).flatMap((script) =>
        fonts.filter((file) => file.startsWith(`spectral-${script}-500`)).map((file) => `/assets/${file}`),
      ),
  };
}
