import { useTranslation } from "react-i18next";
import { knownModel } from "#client/lib/known-models.ts";

/** Names a model of the usage; null stands for all others together. */
export function useModelName(): (model: string | null) => string {
  const { t } = useTranslation("usage");
  return (model) => (model === null ? t("charts.others") : (knownModel(model)?.name ?? model));
}
