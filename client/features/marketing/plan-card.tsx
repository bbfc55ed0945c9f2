import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { classNames } from "#client/components/class-names.ts";
import { RichText } from "#client/components/rich-text.tsx";
import { fieldSize, rowsOfTiles } from "#client/components/tile-field.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import type { DiscountEligibility } from "#contract/billing.ts";
import { models } from "#domain/models.ts";
import type { BillingInterval, Plan, PlanKey, PriceId } from "#domain/plans.ts";
import { priceIdOf } from "#domain/plans.ts";
import styles from "./plan-card.module.css";
import { usePlanFeatures } from "./plan-features.ts";
import { PlanPrice } from "./plan-price.tsx";

interface PlanCardProps {
  plan: Plan;
  interval: BillingInterval;
  onSubscribe: (priceId: PriceId) => void;
  current: boolean;
  /** Whether the person has any plan; plan changes are not built yet, and the server refuses a second subscription. */
  subscribed: boolean;
  processing: string | null;
  pricing: DiscountEligibility["pricing"][PlanKey] | null;
}

const highlighted = models.filter((model) => model.highlighted);
const highlightedNames = highlighted.map((model) => model.name).join("\u00a0· ");

export function PlanCard({ plan, interval, onSubscribe, current, subscribed, processing, pricing }: PlanCardProps) {
  const { t } = useTranslation("plans");
  const features = usePlanFeatures(plan);
  const priceId = priceIdOf(plan.key, interval);
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
        <Button
          variant={plan.mostPopular ? "primary" : "secondary"}
          wide
          disabled={subscribed}
          busy={processing === priceId}
          busyLabel={t("plan.processing")}
          onClick={() => onSubscribe(priceId)}
        >
          {current ? t("plan.current") : t("plan.subscribe", { plan: plan.name })}
        </Button>
        <p className={styles.small}>
          {subscribed && !current ? (
            <RichText text={t("plan.changeLater")} elements={{ profile: <Link href={paths.profile} /> }} />
          ) : (
            t(current ? "plan.changeOnProfile" : "plan.cancel")
          )}
        </p>
      </div>
      <CreditField plan={plan} />
      <ul className={styles.features} aria-label={t("plan.features")}>
        {features.map((feature) => (
          <li key={feature}>{feature}</li>
        ))}
      </ul>
      <div className={styles.models}>
        <h4 className={styles.label}>{t("plan.models")}</h4>
        <p className={styles.small}>{t("plan.moreModels", { models: highlightedNames, count: models.length - highlighted.length })}</p>
      </div>
    </li>
  );
}

/** Credits a tile stands for: small enough to tell the plans apart, large enough to count. */
const creditsPerTile = 25;
const columns = 10;

/** The month's credits as a field of tiles; the four cards side by side show the proportion. */
function CreditField({ plan }: { plan: Plan }) {
  const { t } = useTranslation("plans");
  const format = useFormat();
  const tiles = plan.monthlyCredits / creditsPerTile;
  const { width } = fieldSize(columns, columns);
  const { height } = fieldSize(columns * 5, columns);
  return (
    <div className={styles.credits}>
      <p className={styles.amount}>{t("plan.creditsPerMonth", { credits: format.credits(plan.monthlyCredits) })}</p>
      <svg className={styles.field} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        <path className={styles.open} d={rowsOfTiles(columns * 5, columns)} />
        <path className={styles.laid} d={rowsOfTiles(tiles, columns)} />
      </svg>
      <p className={styles.scale}>{t("plan.tileScale", { credits: format.credits(creditsPerTile) })}</p>
    </div>
  );
}
