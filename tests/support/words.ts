/** The product's texts as a page in that language has them, for tests that walk through it in several languages. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { TOptions } from "i18next";
import i18next from "i18next";
import { formatDate, formatNumber } from "#client/lib/format.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { root } from "./sources.ts";

export interface Words {
  /** The text of `namespace:key`. */
  say(key: string, values?: TOptions): string;
  credits(credits: number): string;
  date(timestamp: string): string;
}

export async function wordsIn(language: LanguageCode): Promise<Words> {
  const folder = path.join(root, "client/i18n/locales", language);
  const texts: Record<string, Record<string, unknown>> = {};
  for (const name of await readdir(folder)) {
    texts[path.basename(name, ".json")] = JSON.parse(await readFile(path.join(folder, name), "utf8"));
  }
  const instance = i18next.createInstance();
  await instance.init({ lng: language, resources: { [language]: texts }, interpolation: { escapeValue: false } });
  const say = (key: string, values: TOptions = {}) => {
    if (!instance.exists(key, values)) throw new Error(`${language} has no text ${key}`);
    return instance.t(key, values);
  };
  return {
    say,
    credits: (credits) => say("common:credits", { count: credits, formatted: formatNumber(credits, language) }),
    date: (timestamp) => formatDate(timestamp, language),
  };
}
