import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import type { RepairedItem } from "#contract/billing/doctor.ts";

/** What a check of the payments put right, in words for the person and for the team. */
export function useRepairText(): (item: RepairedItem) => string {
  const { t } = useTranslation("doctor");
  const { credits, date, money } = useFormat();
  return (item) => {
    switch (item.kind) {
      case "payment_booked":
        return t("item.payment", { date: date(item.paidAt), amount: money(item.amountCents), credits: credits(item.credits) });
      case "credits_released":
        return t("item.released", { credits: credits(item.credits) });
      case "doubled_removed":
        return t("item.doubled", { credits: credits(item.credits) });
      case "subscription_updated":
        return t("item.subscription");
      case "refund_booked":
        return t("item.refund");
      case "invoice_updated":
        return t("item.invoice");
      case "left":
        return t("item.left");
    }
  };
}
