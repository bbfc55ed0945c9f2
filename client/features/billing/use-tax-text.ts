import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import type { OrderPreview } from "#contract/billing/orders.ts";

/** What an order or a change of plan says about the tax in its price; undefined where no tax is calculated. */
export function useTaxText(): (tax: OrderPreview["tax"]) => string | undefined {
  const { t } = useTranslation("order");
  const { percent } = useFormat();
  return (tax) => {
    if (tax === null) return undefined;
    return tax.percent === null ? t("taxed") : t("taxedAt", { percent: percent(tax.percent) });
  };
}
