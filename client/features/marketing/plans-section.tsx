import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Segmented } from "#client/components/segmented.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { BillingInterval, PriceId } from "#domain/plans.ts";
import { annualSavingPercent, planList } from "#domain/plans.ts";
import type { PlanCardProps } from "./plan-card.tsx";
import { creditsPerTile } from "./plan-card.tsx";
import { PlanCards } from "./plan-cards.tsx";
import { PlansNote } from "./plans-note.tsx";
import styles from "./plans-section.module.css";
import { useDiscount } from "./use-discount.ts";

interface PlansSectionProps {
  onSubscribe: (priceId: PriceId) => void;
  /** For subscribers: opens the preview of a change, and takes a planned one back. */
  onChange: PlanCardProps["onChange"];
  onUndo: () => Promise<void>;
  /** The signed-in person's check: their plan's card says so, and the interval starts with theirs. */
  check: SubscriptionCheck | null;
  processing: string | null;
  /** What there is to say of the free trial beside the plans. */
  trial?: ReactNode;
  /** Undefined while it is not known whether somebody is signed in. */
  userId: string | null | undefined;
}

/** The toggle, the discount if there is one, and the four cards. */
export function PlansSection({ onSubscribe, onChange, onUndo, check, processing, trial, userId }: PlansSectionProps) {
  const { t } = useTranslation(["plans", "common"]);
  const format = useFormat();
  const [chosen, setChosen] = useState<BillingInterval | null>(null);
  const own = check?.subscribed && check.subscription_tier !== "none" ? check : null;
  const interval = chosen ?? own?.billing_interval ?? "month";
  const { discount, failed, retry } = useDiscount(userId);
  // What is said above the cards holds for each of them.
  const percent = discount ? Math.min(...planList.map(({ key }) => discount.pricing[key].discountPercentage)) : 0;
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
      <PlansNote own={own} percent={percent} trial={trial} />
      <PlanCards
        interval={interval}
        onSubscribe={onSubscribe}
        onChange={onChange}
        onUndo={onUndo}
        own={own}
        processing={processing}
        discount={discount}
      />
      <p className={styles.scale}>{t("plan.tileScale", { credits: format.credits(creditsPerTile) })}</p>
      {/* Below the cards, so that the buttons don't move. */}
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
