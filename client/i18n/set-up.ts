import i18next from "i18next";
import { initReactI18next } from "react-i18next/initReactI18next";
import { wakeUp } from "#client/lib/sleep.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, languages, matchLanguage } from "#domain/languages.ts";
import { languageCookieMs } from "#domain/periods.ts";
import { accent, pseudoLanguage } from "./pseudo.ts";

type Texts = Record<string, unknown>;

/** The addresses of a language's texts. Each language has its own chunk, so that the first page does not download those of all eleven. */
const indexes = import.meta.glob<Record<string, () => Promise<Texts>>>("./languages/*.ts", { import: "texts" });

const storageKey = "language";
const choiceKeptSeconds = languageCookieMs / 1_000;

function storedLanguage(): LanguageCode | undefined {
  try {
    return matchLanguage(localStorage.getItem(storageKey));
  } catch {
    return undefined;
  }
}

/** In development, `?lang=en-XA` shows the accented texts. Nobody can choose them, and no build contains them. */
function isPseudoAsked(): boolean {
  return import.meta.env.DEV && new URLSearchParams(location.search).get("lang") === pseudoLanguage;
}

/** An address with `?lang=` is an explicit choice (docs/decisions/0009). */
function addressLanguage(): LanguageCode | undefined {
  return isPseudoAsked() ? undefined : matchLanguage(new URLSearchParams(location.search).get("lang"));
}

/** Spec §1: the stored choice, then the browser's languages, then the page's `lang`. */
function detectLanguage(): LanguageCode {
  const browser = navigator.languages.map(matchLanguage).find(Boolean);
  return storedLanguage() ?? browser ?? matchLanguage(document.documentElement.lang) ?? fallbackLanguage;
}

/** Copies the choice into a cookie, so that the server sends the next page in this language. A guessed language is never written. */
function writeLanguageCookie(choice: LanguageCode): void {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${storageKey}=${choice}; Path=/; Max-Age=${choiceKeptSeconds}; SameSite=Lax${secure}`;
}

function store(choice: LanguageCode): void {
  writeLanguageCookie(choice);
  try {
    localStorage.setItem(storageKey, choice);
  } catch {
    // If storage is blocked, the choice lasts until the page is closed.
  }
}

async function loadTexts(language: string, namespace: string): Promise<Texts> {
  if (import.meta.env.DEV && language === pseudoLanguage) return accent(await loadTexts(fallbackLanguage, namespace));
  try {
    const files = await indexes[`./languages/${language}.ts`]?.();
    const load =
      files?.[`../locales/${language}/${namespace}.json`] ??
      (await import("./account-texts.ts")).accountTexts[`./locales/${language}/${namespace}.json`];
    return (await load?.()) ?? {};
  } catch (error) {
    // If a text can't be fetched we fall back to English, which is fetched only then.
    if (language === fallbackLanguage) throw error;
    return await loadTexts(fallbackLanguage, namespace);
  }
}

const backend = {
  type: "backend" as const,
  init: () => undefined,
  read: (language: string, namespace: string, done: (error: unknown, texts: Texts | null) => void) => {
    loadTexts(language, namespace).then(
      (texts) => done(null, texts),
      (error: unknown) => done(error, null),
    );
  },
};

function readersLanguage(): string {
  return isPseudoAsked() ? pseudoLanguage : (addressLanguage() ?? detectLanguage());
}

/**
 * Resolves once the texts of the frame and of the first page are loaded. `drawnIn` is the language of a prerendered page: the
 * page is hydrated in that language, and `followReader` then switches to the reader's if it differs.
 */
export async function setUpTexts(namespaces: readonly string[], drawnIn: LanguageCode | undefined): Promise<void> {
  const choice = addressLanguage() ?? storedLanguage();
  if (choice) store(choice);
  i18next.on("languageChanged", (language) => {
    // Even the same value would make the browser style the whole page again, for :lang.
    if (document.documentElement.lang !== language) document.documentElement.lang = language;
  });
  await i18next
    .use(backend)
    .use(initReactI18next)
    .init({
      lng: drawnIn ?? readersLanguage(),
      // Every language has every text (tests/tidy.test.ts), so nobody has to download a second language.
      fallbackLng: false,
      load: "currentOnly",
      supportedLngs: import.meta.env.DEV ? false : languages.map((language) => language.code),
      ns: ["common", ...namespaces],
      defaultNS: "common",
      partialBundledLanguages: true,
      returnNull: false,
      // React already escapes texts.
      interpolation: { escapeValue: false },
    });
}

/** Whether the prerendered page is in the reader's language. */
export function isDrawnForReader(): boolean {
  return readersLanguage() === matchLanguage(document.documentElement.lang);
}

/** Switches from the language of the prerendered page to the reader's. */
export async function followReader(): Promise<void> {
  const language = readersLanguage();
  if (language !== i18next.language) await i18next.changeLanguage(language);
}

/** Removes `?lang=`, which would otherwise choose that language again at the next reload. */
function clearAddressLanguage(): void {
  const address = new URL(location.href);
  if (!address.searchParams.has("lang")) return;
  address.searchParams.delete("lang");
  history.replaceState(history.state, "", address.pathname + address.search + address.hash);
}

/** Called by the language switcher. Only this and an address with `?lang=` store a choice; the later one applies. */
export async function chooseLanguage(language: LanguageCode): Promise<void> {
  store(language);
  clearAddressLanguage();
  await wakeUp();
  await i18next.changeLanguage(language);
}
