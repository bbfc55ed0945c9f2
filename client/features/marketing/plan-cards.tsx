import type { DiscountEligibility, SubscriptionCheck } from "#contract/billing.ts";
import type { BillingInterval, PriceId } from "#domain/plans.ts";
import { planList } from "#domain/plans.ts";
import { PlanCard } from "./plan-card.tsx";
import styles from "./plan-cards.module.css";

export interface PlanCardsProps {
  interval: BillingInterval;
  onSubscribe: (priceId: PriceId) => void;
  /** The person's plan, if any. Its card says so, and it can't be bought again. */
  currentPlan: SubscriptionCheck["subscription_tier"] | null;
  /** Whether the person has a plan, with either billing interval. */
  subscribed: boolean;
  /** The price whose checkout is being created. */
  processing: string | null;
  discount: DiscountEligibility | null;
}

export function PlanCards({ interval, onSubscribe, currentPlan, subscribed, processing, discount }: PlanCardsProps) {
  return (
    <ul className={styles.cards}>
      {planList.map((plan) => (
        <PlanCard
          key={plan.key}
          plan={plan}
          interval={interval}
          onSubscribe={onSubscribe}
          current={currentPlan === plan.key}
          subscribed={subscribed}
          processing={processing}
          pricing={discount?.discountEligible ? discount.pricing[plan.key] : null}
        />
      ))}
    </ul>
  );
}
