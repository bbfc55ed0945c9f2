import { useTranslation } from "react-i18next";

/** Joins those sentences that there are. Chinese and Japanese put no space between them. */
export function useSentences(): (...sentences: (string | false)[]) => string {
  const { i18n } = useTranslation();
  return (...sentences) => sentences.filter(Boolean).join(/^(zh|ja)/.test(i18n.language) ? "" : " ");
}
