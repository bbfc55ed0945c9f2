/** The interface languages (spec §1), in the order the switcher lists them. `name` is the language's own name for itself. */
export const languages = [
  { code: "en", name: "English", flag: "gb" },
  { code: "es", name: "Español", flag: "es" },
  { code: "fr", name: "Français", flag: "fr" },
  { code: "de", name: "Deutsch", flag: "de" },
  { code: "zh", name: "中文", flag: "cn" },
  { code: "ja", name: "日本語", flag: "jp" },
  { code: "pt", name: "Português", flag: "br" },
  { code: "pl", name: "Polski", flag: "pl" },
  { code: "ro", name: "Română", flag: "ro" },
  { code: "it", name: "Italiano", flag: "it" },
  { code: "ru", name: "Русский", flag: "ru" },
] as const;

export type LanguageCode = (typeof languages)[number]["code"];

/** Used if no other language matches (spec §1). */
export const fallbackLanguage: LanguageCode = "en";

/** `"de-AT"` → `"de"`; undefined if the product does not support the language. */
export function matchLanguage(tag: string | null | undefined): LanguageCode | undefined {
  const base = tag?.trim().toLowerCase().split(/[-_]/)[0];
  return languages.find((language) => language.code === base)?.code;
}
