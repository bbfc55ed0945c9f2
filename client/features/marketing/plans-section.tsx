import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Segmented } from "#client/components/segmented.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { BillingInterval, PlanKey, PriceId } from "#domain/plans.ts";
import { annualSavingPercent } from "#domain/plans.ts";
import { PlanCards } from "./plan-cards.tsx";
import styles from "./plans-section.module.css";
import { useDiscount } from "./use-discount.ts";

interface PlansSectionProps {
  onSubscribe: (priceId: PriceId) => void;
  currentPlan: PlanKey | null;
  /** How the current plan is paid; the choice starts there. */
  currentInterval: BillingInterval | null;
  processing: string | null;
  /** Undefined while it is not known whether somebody is signed in. */
  userId: string | null | undefined;
}

/** The toggle, the discount if there is one, and the four cards. */
export function PlansSection({ onSubscribe, currentPlan, currentInterval, processing, userId }: PlansSectionProps) {
  const { t } = useTranslation(["plans", "common"]);
  const format = useFormat();
  const [chosen, setChosen] = useState<BillingInterval | null>(null);
  const interval = chosen ?? currentInterval ?? "month";
  const { discount, failed, retry } = useDiscount(userId);
  const percent = discount?.discountEligible ? discount.pricing.starter.discountPercentage : 0;
  return (
    <div className={styles.section}>
      <div className={styles.controls}>
        <Segmented
          label={t("interval.label")}
          value={interval}
          onChange={setChosen}
          options={[
            { value: "month", label: t("interval.month") },
            {
              value: "year",
              label: (
                <>
                  {t("interval.year")}{" "}
                  <em className={styles.save}>{t("interval.save", { percent: format.percent(annualSavingPercent) })}</em>
                </>
              ),
            },
          ]}
        />
      </div>
      {percent > 0 && <p className={styles.offer}>{t("discount.offer", { percent: format.percent(percent) })}</p>}
      <PlanCards
        interval={interval}
        onSubscribe={onSubscribe}
        currentPlan={currentPlan !== null && (currentInterval ?? interval) === interval ? currentPlan : null}
        subscribed={currentPlan !== null}
        processing={processing}
        discount={discount}
      />
      {/* Below the cards, so that nothing moves from under a finger. */}
      {failed && (
        <Alert
          title={t("discount.failed")}
          action={
            <Button size="small" onClick={retry}>
              {t("common:retry")}
            </Button>
          }
        >
          {t("discount.failedText")}
        </Alert>
      )}
    </div>
  );
}
