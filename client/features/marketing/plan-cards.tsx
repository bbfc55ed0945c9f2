import type { DiscountEligibility } from "#contract/billing/subscription.ts";
import { planList } from "#domain/plans.ts";
import type { PlanCardProps } from "./plan-card.tsx";
import { PlanCard } from "./plan-card.tsx";
import styles from "./plan-cards.module.css";

interface PlanCardsProps extends Omit<PlanCardProps, "plan" | "pricing"> {
  discount: DiscountEligibility | null;
}

export function PlanCards({ discount, ...card }: PlanCardsProps) {
  return (
    <ul className={styles.cards}>
      {planList.map((plan) => {
        // A campaign may leave plans out.
        const pricing = discount?.pricing[plan.key];
        return <PlanCard key={plan.key} plan={plan} {...card} pricing={pricing && pricing.discountPercentage > 0 ? pricing : null} />;
      })}
    </ul>
  );
}
