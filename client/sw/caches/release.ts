/** Classifies the files of this release by their names, which vite.config.ts assigns. */
import { pieceNameAt } from "#client/content/names.ts";

declare const self: ServiceWorkerGlobalScope & { __WB_MANIFEST: { url: string; revision: string | null }[] };

const manifest = self.__WB_MANIFEST;

/** FNV-1a over the names and revisions of all files, of which at least one differs between two releases. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16);
}

export const release = hashOf(JSON.stringify(manifest));

const files = manifest.map(({ url }) => `/${url}`);
const unhashed = new Set(manifest.filter(({ revision }) => revision !== null).map(({ url }) => `/${url}`));

const localeFile = /^\/assets\/locale-(\w+)-/;
const fontFile = /^\/assets\/spectral-([a-z-]+)-\d/;
const pieceFile = /^\/assets\/piece-/;
const onUseFile = /^\/assets\/on-use-/;

/** Font subsets that headings need besides Latin. Chinese and Japanese headings use system fonts. */
const scripts: Readonly<Record<string, string>> = { ru: "cyrillic", pl: "latin-ext", ro: "latin-ext" };

/** The files that every page needs, and English, the fallback for texts that can't be fetched. */
export const shellFiles: readonly string[] = files.filter((file) => {
  const [, language = "en"] = localeFile.exec(file) ?? [];
  const [, script = "latin"] = fontFile.exec(file) ?? [];
  return language === "en" && script === "latin" && !pieceFile.test(file) && !onUseFile.test(file);
});

export function languageFiles(language: string): string[] {
  return files.filter(
    (file) => localeFile.exec(file)?.[1] === language || (language in scripts && fontFile.exec(file)?.[1] === scripts[language]),
  );
}

/** Whether a file is the text of the page at `path`, in that language or in any, of any release. */
export function isPieceFile(file: string, path: string, language = "\\w+"): boolean {
  const name = pieceNameAt(path);
  // The pattern includes the hash of seven characters, because one piece's name may be the beginning of another's.
  return name !== undefined && new RegExp(`^/assets/piece-${language}-${name}-[\\w-]{7}\\.js$`).test(file);
}

/** The text that the page at `path` loads when it runs: in the reader's language, or in English. */
export function pieceFiles(path: string, language: string): string[] {
  const own = files.filter((file) => isPieceFile(file, path, language));
  return own.length > 0 ? own : files.filter((file) => isPieceFile(file, path, "en"));
}

/** Whether the file's name contains a hash of its content, so that a copy from another release is identical. */
export function isHashed(file: string): boolean {
  return file.startsWith("/assets/") && !unhashed.has(file);
}

export function isAsset(path: string): boolean {
  return path.startsWith("/assets/") || unhashed.has(path);
}
