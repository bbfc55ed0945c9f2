import { useTranslation } from "react-i18next";
import type { BillingInterval, PlanKey } from "#domain/plans.ts";
import { plans } from "#domain/plans.ts";

/** A plan with its billing interval: "Basic, billed annually". */
export function useNamedPlan(): (sold: { plan: PlanKey; interval: BillingInterval }) => string {
  const { t } = useTranslation("change");
  return ({ plan, interval }) => t(`named.${interval}`, { plan: plans[plan].name });
}
