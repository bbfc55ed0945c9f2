import { useTranslation } from "react-i18next";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { DiscountEligibility } from "#contract/billing.ts";
import type { BillingInterval, Plan, PlanKey } from "#domain/plans.ts";
import { annualPriceCents, priceCents } from "#domain/plans.ts";
import styles from "./plan-card.module.css";

interface PlanPriceProps {
  plan: Plan;
  interval: BillingInterval;
  /** With a discount the old price stands beside the new one, struck. */
  pricing: DiscountEligibility["pricing"][PlanKey] | null;
}

export function PlanPrice({ plan, interval, pricing }: PlanPriceProps) {
  const { t } = useTranslation("pricing");
  const format = useFormat();
  const listCents = priceCents(plan, interval);
  const discounted = interval === "year" ? pricing?.annual : pricing;
  const period = t(interval === "year" ? "plan.perYear" : "plan.perMonth");
  return (
    <div className={styles.price}>
      <p className={styles.figure}>
        {discounted && (
          <s className={styles.old}>
            <VisuallyHidden>{t("plan.was")} </VisuallyHidden>
            {format.money(discounted.originalPrice)}
          </s>
        )}
        <span className={styles.money}>
          {discounted && <VisuallyHidden>{t("plan.now")} </VisuallyHidden>}
          {format.money(discounted?.discountedPrice ?? listCents)}
        </span>
        <span className={styles.period}>{period}</span>
      </p>
      {discounted && (
        <p className={styles.small}>{t("plan.firstPeriod", { price: `${format.money(discounted.originalPrice)} ${period}` })}</p>
      )}
      {!discounted && interval === "year" && (
        <p className={styles.small}>
          {t("plan.monthlyEquivalent", {
            price: format.money(Math.round(annualPriceCents(plan) / 12)),
            savings: format.money(12 * plan.monthlyPriceCents - annualPriceCents(plan)),
          })}
        </p>
      )}
    </div>
  );
}
