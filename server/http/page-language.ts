/** Chooses the language of a page (docs/decisions/0009). */
import type { IncomingHttpHeaders } from "node:http";
import { parseCookie } from "cookie";
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, matchLanguage } from "#domain/languages.ts";
import { acceptedLanguages } from "./accepted-languages.ts";

export interface PageLanguage {
  language: LanguageCode;
  /** The address names the language, so everybody gets the same page. */
  explicit: boolean;
}

/** The client copies the language a person has chosen into this cookie; a detected language is never in it. */
function chosenLanguage(cookies: string | undefined): LanguageCode | undefined {
  return matchLanguage(parseCookie(cookies ?? "").language);
}

/** The language in the address, else the chosen one, else the first of Accept-Language that we support, else English. */
export function pageLanguage(query: URLSearchParams, headers: IncomingHttpHeaders): PageLanguage {
  const named = matchLanguage(query.get("lang"));
  if (named) return { language: named, explicit: true };
  const accepted = acceptedLanguages(headers["accept-language"]).map(matchLanguage);
  return { language: chosenLanguage(headers.cookie) ?? accepted.find(Boolean) ?? fallbackLanguage, explicit: false };
}
