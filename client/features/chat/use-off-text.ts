import { useTranslation } from "react-i18next";
import { fallbackLanguage } from "#domain/languages.ts";
import type { OfferedModel } from "./models-store.ts";

/** What the team wrote about a model that is switched off, in the reader's language or else in English. */
export function useOffText({ off }: OfferedModel): string | undefined {
  const { i18n } = useTranslation();
  return off?.[i18n.language] ?? off?.[fallbackLanguage];
}
