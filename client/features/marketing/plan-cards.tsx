import type { DiscountEligibility, SubscriptionCheck } from "#contract/billing.ts";
import type { BillingInterval, PriceId } from "#domain/plans.ts";
import { planList } from "#domain/plans.ts";
import { PlanCard } from "./plan-card.tsx";
import styles from "./plan-cards.module.css";

export interface PlanCardsProps {
  interval: BillingInterval;
  onSubscribe: (priceId: PriceId) => void;
  onChange: (priceId: PriceId) => void;
  onUndo: () => Promise<void>;
  /** The person's subscription, if they have a plan. Its card says so, and the others offer a change. */
  own: SubscriptionCheck | null;
  /** The price whose checkout is being created. */
  processing: string | null;
  discount: DiscountEligibility | null;
}

export function PlanCards({ discount, ...card }: PlanCardsProps) {
  return (
    <ul className={styles.cards}>
      {planList.map((plan) => (
        <PlanCard key={plan.key} plan={plan} {...card} pricing={discount?.discountEligible ? discount.pricing[plan.key] : null} />
      ))}
    </ul>
  );
}
