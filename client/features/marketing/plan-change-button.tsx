import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { BillingInterval, Plan } from "#domain/plans.ts";
import styles from "./plan-card.module.css";

interface PlanChangeButtonProps {
  plan: Plan;
  interval: BillingInterval;
  own: SubscriptionCheck;
  onChange: () => void;
  /** Takes the planned change back. Never throws. */
  onUndo: () => Promise<void>;
}

/** The button on the cards of plans that a subscriber doesn't have: it changes to that plan, or undoes a change that is planned. */
export function PlanChangeButton({ plan, interval, own, onChange, onUndo }: PlanChangeButtonProps) {
  const { t, ready } = useTranslation("change", { useSuspense: false });
  const { date } = useFormat();
  const [undoing, setUndoing] = useState(false);
  if (!ready) return null;
  const { plan_to_come: coming } = own;
  if (coming?.plan !== plan.key || coming.interval !== interval) {
    const label = own.subscription_tier === plan.key ? t(`toInterval.${interval}`) : t("to", { plan: plan.name });
    return (
      <Button variant={plan.mostPopular ? "primary" : "secondary"} wide onClick={onChange}>
        {label}
      </Button>
    );
  }
  async function undo(): Promise<void> {
    setUndoing(true);
    await onUndo();
    setUndoing(false);
  }
  return (
    <>
      <Button wide busy={undoing} busyLabel={t("undoing")} onClick={() => void undo()}>
        {t("undo")}
      </Button>
      <p className={styles.coming}>{t("comes", { date: date(coming.from) })}</p>
    </>
  );
}
