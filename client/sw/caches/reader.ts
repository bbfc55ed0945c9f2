/** Stores what the service worker must remember between its short lives, besides the release: the reader's language. */
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, matchLanguage } from "#domain/languages.ts";

const notesCache = "notes";

export async function readNote(name: string): Promise<string | undefined> {
  const note = await caches.match(`/${name}`, { cacheName: notesCache });
  return await note?.text();
}

export async function writeNote(name: string, text: string): Promise<void> {
  const cache = await caches.open(notesCache);
  await cache.put(`/${name}`, new Response(text));
}

export async function rememberLanguage(language: LanguageCode): Promise<void> {
  await writeNote("language", language);
}

/** Used until a page has reported the language: the language in which the server answers, because the server knows the reader's choice. */
async function guessLanguage(): Promise<LanguageCode | undefined> {
  const home = await fetch("/", { headers: { accept: "text/html" } }).then(
    (response) => response.text(),
    () => "",
  );
  return matchLanguage(/<html lang="([\w-]+)"/.exec(home)?.[1]);
}

export async function readersLanguage(): Promise<LanguageCode> {
  const told = matchLanguage(await readNote("language"));
  return told ?? navigator.languages.map(matchLanguage).find(Boolean) ?? fallbackLanguage;
}

/** The language to cache at the first installation. */
export async function firstLanguage(): Promise<LanguageCode> {
  return matchLanguage(await readNote("language")) ?? (await guessLanguage()) ?? (await readersLanguage());
}
