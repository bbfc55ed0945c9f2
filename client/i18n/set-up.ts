import i18next from "i18next";
import { initReactI18next } from "react-i18next/initReactI18next";
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, languages, matchLanguage } from "#domain/languages.ts";

/** One chunk for each language and namespace, fetched when a screen first asks for it. */
const files = import.meta.glob<Record<string, unknown>>("./locales/*/*.json", { import: "default" });

const storageKey = "language";

function storedLanguage(): LanguageCode | undefined {
  try {
    return matchLanguage(localStorage.getItem(storageKey));
  } catch {
    return undefined;
  }
}

/** An address with `?lang=` is an explicit choice (decisions.md, "Language"). */
function addressLanguage(): LanguageCode | undefined {
  return matchLanguage(new URLSearchParams(location.search).get("lang"));
}

/** Spec §1: the stored choice, then the browser, then the page's tag. */
function detectLanguage(): LanguageCode {
  const browser = navigator.languages.map(matchLanguage).find(Boolean);
  return storedLanguage() ?? browser ?? matchLanguage(document.documentElement.lang) ?? fallbackLanguage;
}

function store(language: LanguageCode): void {
  try {
    localStorage.setItem(storageKey, language);
  } catch {
    // Storage may be closed: the choice then lasts as long as the page.
  }
}

/**
 * Resolves once the frame's texts and the namespaces of the first page are there; a language without a file falls back
 * to English.
 */
export async function setUpTexts(namespaces: readonly string[]): Promise<void> {
  const chosen = addressLanguage();
  if (chosen) store(chosen);
  i18next.on("languageChanged", (language) => {
    document.documentElement.lang = language;
  });
  await i18next
    .use({
      type: "backend",
      init: () => undefined,
      read: (language: string, namespace: string, done: (error: unknown, texts: Record<string, unknown> | null) => void) => {
        const load = files[`./locales/${language}/${namespace}.json`];
        if (!load) done(null, {});
        else
          void load().then(
            (texts) => done(null, texts),
            (error: unknown) => done(error, null),
          );
      },
    })
    .use(initReactI18next)
    .init({
      lng: chosen ?? detectLanguage(),
      fallbackLng: fallbackLanguage,
      supportedLngs: languages.map((language) => language.code),
      ns: ["common", ...namespaces],
      defaultNS: "common",
      partialBundledLanguages: true,
      returnNull: false,
      // React escapes what it writes.
      interpolation: { escapeValue: false },
    });
}

/** The language switcher: only this stores a choice. */
export async function chooseLanguage(language: LanguageCode): Promise<void> {
  store(language);
  await i18next.changeLanguage(language);
}
