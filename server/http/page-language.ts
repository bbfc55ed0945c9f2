/** In which language a page is answered (decisions.md, "Language"). */
import type { IncomingHttpHeaders } from "node:http";
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, matchLanguage } from "#domain/languages.ts";
import { acceptedLanguages } from "./accepted-languages.ts";

export interface PageLanguage {
  language: LanguageCode;
  /** Named by the address itself, so that everybody gets the same. */
  explicit: boolean;
}

/** The cookie in which the client mirrors a choice; a guess is never in it. */
function chosenLanguage(cookies: string | undefined): LanguageCode | undefined {
  return matchLanguage(/(?:^|;\s*)language=([^;]*)/.exec(cookies ?? "")?.[1]);
}

/** The address, then the choice, then what the browser accepts, then English. */
export function pageLanguage(query: URLSearchParams, headers: IncomingHttpHeaders): PageLanguage {
  const named = matchLanguage(query.get("lang"));
  if (named) return { language: named, explicit: true };
  const accepted = acceptedLanguages(headers["accept-language"]).map(matchLanguage);
  return { language: chosenLanguage(headers.cookie) ?? accepted.find(Boolean) ?? fallbackLanguage, explicit: false };
}
