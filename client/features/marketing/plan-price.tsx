import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { RichText } from "#client/components/rich-text.tsx";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { DiscountEligibility } from "#contract/billing/subscription.ts";
import type { BillingInterval, Plan, PlanKey } from "#domain/plans.ts";
import { priceCents } from "#domain/plans.ts";
import styles from "./plan-card.module.css";

interface PlanPriceProps {
  plan: Plan;
  interval: BillingInterval;
  /** With a discount, the old price is shown struck through beside the new one. */
  pricing: DiscountEligibility["pricing"][PlanKey] | null;
}

/** A price with a separate text for screen readers, because only the styling shows which price is the old one. */
function SpokenPrice({ spoken, children }: { spoken: string; children?: ReactNode }) {
  return (
    <>
      <VisuallyHidden>{spoken}</VisuallyHidden>
      <span aria-hidden="true">{children}</span>
    </>
  );
}

function Money({ spoken, children }: { spoken: string | undefined; children?: ReactNode }) {
  return <span className={styles.money}>{spoken ? <SpokenPrice spoken={spoken}>{children}</SpokenPrice> : children}</span>;
}

export function PlanPrice({ plan, interval, pricing }: PlanPriceProps) {
  const { t } = useTranslation("plans");
  const format = useFormat();
  const discounted = interval === "year" ? pricing?.annual : pricing;
  // Sentences about every year use the list price, because a discount applies only to the first year.
  const listCents = priceCents(plan, interval);
  const cents = discounted?.discountedPrice ?? listCents;
  const price = format.money(cents);
  return (
    <div className={styles.price}>
      <p className={styles.figure}>
        {discounted && (
          <s className={styles.old}>
            <SpokenPrice spoken={t("plan.was", { price: format.money(discounted.originalPrice) })}>
              {format.money(discounted.originalPrice)}
            </SpokenPrice>
          </s>
        )}
        <RichText
          text={t(`plan.price.${interval}`, { price })}
          elements={{
            money: <Money spoken={discounted ? t("plan.now", { price }) : undefined} />,
            period: <span className={styles.period} />,
          }}
        />
      </p>
      {interval === "year" && (
        <p className={styles.small}>
          {t("plan.monthlyEquivalent", {
            price: format.money(Math.round(listCents / 12)),
            savings: format.money(12 * plan.monthlyPriceCents - listCents),
          })}
        </p>
      )}
      {discounted && (
        <p className={styles.small}>
          {t(`plan.firstPeriod.${interval}`, {
            price: format.money(discounted.originalPrice),
            savings: format.money(discounted.savings),
            percent: format.percent(discounted.discountPercentage),
          })}
        </p>
      )}
    </div>
  );
}
