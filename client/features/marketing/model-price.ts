import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import type { Model } from "#domain/models.ts";

/** "5 credits per answer", the way a model's price is said everywhere. */
export function useModelPrice(): (model: Model) => string {
  const { t } = useTranslation("common");
  const format = useFormat();
  return (model) => `${format.credits(model.credits)} ${t(`model.unit.${model.unit}`)}`;
}
