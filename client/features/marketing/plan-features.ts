import { useTranslation } from "react-i18next";
import { offeredModels } from "#client/lib/offered-models.ts";
import type { Plan, PlanKey } from "#domain/plans.ts";

const professional = ["prioritySupport", "collaboration", "commercialRights"] as const;

/** Spec §9: the notes on the plans. An Enterprise credit costs more than a Professional one, so its card lists everything it includes. */
const extras = {
  starter: [],
  basic: [],
  professional,
  enterprise: [...professional, "alwaysSupport", "customTuning", "dedicatedManager"],
} as const satisfies Record<PlanKey, readonly string[]>;

/** The features on a plan's card, with numbers from the catalogue. */
export function usePlanFeatures(plan: Plan): string[] {
  const { t } = useTranslation("plans");
  return [
    t("features.allModels", { count: offeredModels().length }),
    t("features.requests", { count: plan.requestsPerMinute }),
    t("features.concurrent", { count: plan.concurrentAnswers }),
    t("features.files", { gigabytes: plan.fileGigabytes }),
    t("features.receipts"),
    ...extras[plan.key].map((key) => t(`features.${key}`)),
  ];
}
