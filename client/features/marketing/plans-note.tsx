import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Late } from "#client/components/late.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import styles from "./plans-section.module.css";

const loadOwnPlan = async () => (await import("./own-plan.tsx")).OwnPlan;

interface PlansNoteProps {
  /** The person's paid plan, if any. */
  own: SubscriptionCheck | null;
  /** The discount on the first period, in percent; 0 if there is none. */
  percent: number;
  /** What the free trial offers this person, or how it goes on with a plan. */
  trial: ReactNode;
}

/** The note above the cards. Its space is reserved, because its content arrives later from the server. */
export function PlansNote({ own, percent, trial }: PlansNoteProps) {
  const { t } = useTranslation("plans");
  const format = useFormat();
  return (
    <p className={styles.note}>
      {own ? (
        <Late load={loadOwnPlan} own={own} />
      ) : (
        <>
          {percent > 0 ? (
            <span className={styles.offer}>{t("discount.offer", { percent: format.percent(percent) })}</span>
          ) : (
            t("plan.cancel")
          )}
          {trial}
        </>
      )}
    </p>
  );
}
