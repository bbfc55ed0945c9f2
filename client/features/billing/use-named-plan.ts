import { useTranslation } from "react-i18next";
import { plans } from "#domain/plans.ts";
import type { Sold } from "./plan-change-acts.ts";

/** A plan with its billing interval: "Basic, billed annually". */
export function useNamedPlan(): (sold: Sold) => string {
  const { t } = useTranslation("change");
  return ({ plan, interval }) => t(`named.${interval}`, { plan: plans[plan].name });
}
