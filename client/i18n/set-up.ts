import i18next from "i18next";
import { initReactI18next } from "react-i18next/initReactI18next";
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, languages, matchLanguage } from "#domain/languages.ts";
import { languageCookieMs } from "#domain/periods.ts";
import { accent, pseudoLanguage } from "./pseudo.ts";

type Texts = Record<string, unknown>;

/** Where a language's texts are: a chunk of its own, since eleven languages' addresses are nothing the first page needs. */
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

/** In development `?lang=en-XA` asks for the accented texts; nobody chooses them, and no build has them. */
function isPseudoAsked(): boolean {
  return import.meta.env.DEV && new URLSearchParams(location.search).get("lang") === pseudoLanguage;
}

/** An address with `?lang=` is an explicit choice (docs/decisions/0009). */
function addressLanguage(): LanguageCode | undefined {
  return isPseudoAsked() ? undefined : matchLanguage(new URLSearchParams(location.search).get("lang"));
}

/** Spec §1: the stored choice, then the browser, then the page's tag. */
function detectLanguage(): LanguageCode {
  const browser = navigator.languages.map(matchLanguage).find(Boolean);
  return storedLanguage() ?? browser ?? matchLanguage(document.documentElement.lang) ?? fallbackLanguage;
}

/** The server reads the choice from a cookie, so that the next page comes in it. A guess never gets there. */
function mirror(choice: LanguageCode): void {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${storageKey}=${choice}; Path=/; Max-Age=${choiceKeptSeconds}; SameSite=Lax${secure}`;
}

function store(choice: LanguageCode): void {
  mirror(choice);
  try {
    localStorage.setItem(storageKey, choice);
  } catch {
    // Storage may be closed: the choice then lasts as long as the page.
  }
}

async function loadTexts(language: string, namespace: string): Promise<Texts> {
  if (import.meta.env.DEV && language === pseudoLanguage) return accent(await loadTexts(fallbackLanguage, namespace));
  try {
    const files = await indexes[`./languages/${language}.ts`]?.();
    return (await files?.[`../locales/${language}/${namespace}.json`]?.()) ?? {};
  } catch (error) {
    // English stands in for what can't be fetched, and is fetched only then.
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
 * Resolves once the frame's texts and the namespaces of the first page are there. `drawnIn` is the language in which the
 * page was drawn already: it starts in that, and `followReader` switches where the reader's differs.
 */
export async function setUpTexts(namespaces: readonly string[], drawnIn: LanguageCode | undefined): Promise<void> {
  const choice = addressLanguage() ?? storedLanguage();
  if (choice) store(choice);
  i18next.on("languageChanged", (language) => {
    document.documentElement.lang = language;
  });
  await i18next
    .use(backend)
    .use(initReactI18next)
    .init({
      lng: drawnIn ?? readersLanguage(),
      // Every language has every text (tests/tidy.test.ts), so no reader downloads two.
      fallbackLng: false,
      load: "currentOnly",
      supportedLngs: import.meta.env.DEV ? false : languages.map((language) => language.code),
      ns: ["common", ...namespaces],
      defaultNS: "common",
      partialBundledLanguages: true,
      returnNull: false,
      // React escapes what it writes.
      interpolation: { escapeValue: false },
    });
}

/** Switches from the language a page was drawn in to the reader's own. */
export async function followReader(): Promise<void> {
  const language = readersLanguage();
  if (language !== i18next.language) await i18next.changeLanguage(language);
}

/** An address that names a language would choose it again with the next reload. */
function clearAddressLanguage(): void {
  const address = new URL(location.href);
  if (!address.searchParams.has("lang")) return;
  address.searchParams.delete("lang");
  history.replaceState(history.state, "", address.pathname + address.search + address.hash);
}

/** The language switcher: only this, and an address with `?lang=`, stores a choice; the later one stands. */
export async function chooseLanguage(language: LanguageCode): Promise<void> {
  store(language);
  clearAddressLanguage();
  await i18next.changeLanguage(language);
}
