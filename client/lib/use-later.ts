import { useTranslation } from "react-i18next";
import { laterCategories } from "#domain/models.ts";
import { formatList } from "./format.ts";

/** Texts as one paragraph; Chinese and Japanese put no space after a full stop. */
export function joinSentences(sentences: readonly string[], language: string): string {
  return sentences.join(/^(zh|ja)\b/.test(language) ? "" : " ");
}

/** What is said of the kinds of model that can't be used yet. A page that says it loads the texts `later`. */
export function useLater() {
  const { t, i18n } = useTranslation("later");
  const kinds = laterCategories.map((category) => t(`kinds.${category}`));
  return {
    /** A text about every model, and the sentence that names the kinds that come later, while there are any. */
    withLaterKinds: (text: string): string => {
      if (kinds.length === 0) return text;
      return joinSentences([text, t("sentence", { kinds: formatList(kinds, i18n.language) })], i18n.language);
    },
    /** "GPT Image 1 can't be used yet." */
    laterModel: (name: string): string => t("model", { name }),
    /** What a tile or a table's heading says. */
    later: t("tile"),
  };
}
