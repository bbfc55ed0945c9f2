/** What only some answers say: why a filter stopped them, and how often their model searched. */
import i18next from "i18next";
import { renderToStaticMarkup } from "react-dom/server";
import { initReactI18next } from "react-i18next/initReactI18next";
import { beforeAll, expect, it } from "vitest";
import { Filtered, OutcomeLines } from "#client/features/chat/outcome.tsx";
import type { Receipt } from "#contract/generations/generations.ts";
import { filterReasons } from "#domain/filter-reasons.ts";
import { languages } from "#domain/languages.ts";

type Texts = { filtered: string; filter: string; searches: string; reason: Record<string, string> };
const files = import.meta.glob<Texts>("../../client/i18n/locales/*/outcomes.json", { import: "default", eager: true });
const textsOf = (language: string) =>
  files[`../../client/i18n/locales/${language}/outcomes.json`] ?? expect.fail(`no texts for ${language}`);

beforeAll(async () => {
  const resources = Object.fromEntries(languages.map(({ code }) => [code, { outcomes: textsOf(code) }]));
  await i18next.use(initReactI18next).init({ lng: "en", ns: ["outcomes"], resources, interpolation: { escapeValue: false } });
});

it("what a filter stopped is said in every language, and an unknown reason as another one", async () => {
  for (const { code: language } of languages) {
    await i18next.changeLanguage(language);
    const { reason: words } = textsOf(language);
    const said = filterReasons.map((reason) => renderToStaticMarkup(<p>{<Filtered reason={reason} />}</p>).replaceAll("&#x27;", "'"));
    filterReasons.forEach((reason, index) => void expect(said[index], language).toContain(words[reason]));
    expect(new Set(said).size, language).toBe(filterReasons.length);
    expect(renderToStaticMarkup(<Filtered reason="<b>new</b>" />).replaceAll("&#x27;", "'")).toContain(words.other);
  }
});

it("a receipt has a line for what is known, and none for what is not", async () => {
  await i18next.changeLanguage("en");
  const lines = (receipt: Partial<Receipt>) => renderToStaticMarkup(<OutcomeLines receipt={receipt as Receipt} />);
  expect(lines({ searches: 3 })).toBe("<div><dt>Searches</dt><dd>3</dd></div>");
  expect(lines({ filterReason: "violence", searches: 0 })).toBe("<div><dt>Content filter</dt><dd>violence</dd></div>");
  expect(lines({ filterReason: "unspecified", thinkingTokens: 12 })).toBe("");
});
