import { useTranslation } from "react-i18next";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { classNames } from "#client/components/class-names.ts";
import { Late } from "#client/components/late.tsx";
import { fieldSize, rowsOfTiles } from "#client/components/tile-field.ts";
import { offeredModels } from "#client/lib/offered-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { DiscountEligibility, SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { BillingInterval, Plan, PlanKey, PriceId } from "#domain/plans.ts";
import { annualPriceCents, planList, priceIdOf } from "#domain/plans.ts";
import styles from "./plan-card.module.css";
import { usePlanFeatures } from "./plan-features.ts";
import { PlanPrice } from "./plan-price.tsx";

export interface PlanCardProps {
  plan: Plan;
  interval: BillingInterval;
  onSubscribe: (priceId: PriceId) => void;
  /** Opens the preview of a change. */
  onChange: (target: { plan: PlanKey; interval: BillingInterval }) => void;
  onUndo: () => Promise<void>;
  /** The person's subscription, if they have a plan. */
  own: SubscriptionCheck | null;
  /** The price whose checkout is being created. */
  processing: string | null;
  pricing: DiscountEligibility["pricing"][PlanKey] | null;
}

/** How many credits a tile represents: few enough to tell the plans apart, enough to keep the tiles countable. */
export const creditsPerTile = 25;
const mostTiles = Math.max(...planList.map(({ monthlyCredits }) => monthlyCredits)) / creditsPerTile;

const loadChangeButton = async () => (await import("./plan-change-button.tsx")).PlanChangeButton;

export function PlanCard({ plan, interval, onSubscribe, onChange, onUndo, own, processing, pricing }: PlanCardProps) {
  const { t } = useTranslation("plans");
  const features = usePlanFeatures(plan);
  const models = offeredModels();
  const highlighted = models.filter((model) => model.highlighted).map(({ name }) => name);
  const priceId = priceIdOf(plan.key, interval);
  const current = own?.subscription_tier === plan.key && (own.billing_interval ?? interval) === interval;
  const headingId = `plan-${plan.key}`;
  return (
    <li className={classNames(styles.card, plan.mostPopular && styles.popular)} aria-labelledby={headingId}>
      <div className={styles.head}>
        <h3 id={headingId} className={styles.name}>
          {plan.name}
        </h3>
        {current ? (
          <Badge tone="good">{t("plan.current")}</Badge>
        ) : (
          plan.mostPopular && <Badge tone="accent">{t("plan.mostPopular")}</Badge>
        )}
      </div>
      <p className={styles.description}>{t(`plans.${plan.key}.description`)}</p>
      <PlanPrice plan={plan} interval={interval} pricing={pricing} />
      <div className={styles.action}>
        {own && !current ? (
          <Late
            load={loadChangeButton}
            plan={plan}
            interval={interval}
            own={own}
            onChange={() => onChange({ plan: plan.key, interval })}
            onUndo={onUndo}
          />
        ) : (
          <Button
            variant={plan.mostPopular ? "primary" : "secondary"}
            wide
            disabled={current}
            busy={processing === priceId}
            busyLabel={t("plan.processing")}
            onClick={() => onSubscribe(priceId)}
          >
            {current ? t("plan.current") : t("plan.subscribe", { plan: plan.name })}
          </Button>
        )}
      </div>
      <CreditField plan={plan} interval={interval} />
      <ul className={styles.features} aria-label={t("plan.features")}>
        {features.map((feature) => (
          <li key={feature}>{feature}</li>
        ))}
      </ul>
      <details className={styles.models}>
        <summary className={styles.label}>{t("plan.models")}</summary>
        <p className={styles.small}>
          {t("plan.moreModels", { models: highlighted.join("\u00a0· "), count: models.length - highlighted.length })}
        </p>
      </details>
    </li>
  );
}

const columns = 25;

/** The month's credits as a field of tiles. Side by side, the cards show the proportions. */
function CreditField({ plan, interval }: { plan: Plan; interval: BillingInterval }) {
  const { t } = useTranslation("plans");
  const format = useFormat();
  const { width, height } = fieldSize(mostTiles, columns);
  const dollars = (interval === "year" ? annualPriceCents(plan) / 12 : plan.monthlyPriceCents) / 100;
  return (
    <div className={styles.credits}>
      <p className={styles.amount}>{t("plan.creditsPerMonth", { credits: format.credits(plan.monthlyCredits) })}</p>
      <svg className={styles.field} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        <path className={styles.open} d={rowsOfTiles(mostTiles, columns)} />
        <path className={styles.laid} d={rowsOfTiles(plan.monthlyCredits / creditsPerTile, columns)} />
      </svg>
      <p className={styles.scale}>
        {t("plan.perDollar", { number: format.number(Math.round((10 * plan.monthlyCredits) / dollars) / 10) })}
      </p>
    </div>
  );
}
