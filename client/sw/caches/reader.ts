/** What the worker remembers between its short lives, besides the release: the reader's language. */
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

/** Before any page has said so: what the server, which knows of the choice, would answer in. */
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

/** At the first installation. */
export async function firstLanguage(): Promise<LanguageCode> {
  return matchLanguage(await readNote("language")) ?? (await guessLanguage()) ?? (await readersLanguage());
}
