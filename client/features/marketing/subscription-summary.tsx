import { ChevronDown } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Badge } from "#client/components/badge.tsx";
import { LinkButton } from "#client/components/button.tsx";
import { accessEnd, isLastPeriod } from "#client/lib/access-end.ts";
import { trialStateOf } from "#client/lib/trial-state.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { CreditSupply } from "#domain/credits.ts";
import { creditLevel, creditSupply } from "#domain/credits.ts";
import { monthlyCreditsOf, plans } from "#domain/plans.ts";
import { timeLeft } from "#domain/subscription.ts";
import styles from "./subscription-summary.module.css";

const toneOf = { plenty: "good", low: "warning", out: "danger" } as const satisfies Record<CreditSupply, string>;

/** Spec §4, "Summary": short or complete. Time left is calculated from the server's clock, not the device's. */
export function SubscriptionSummary({ check }: { check: SubscriptionCheck }) {
  const { t } = useTranslation("home");
  const format = useFormat();
  const onTrial = trialStateOf(check) === "running";
  const supply = creditSupply(check.credits, monthlyCreditsOf(check.subscription_tier));
  const left = format.timeLeft(timeLeft(accessEnd(check), new Date(check.server_time)));
  return (
    <section className={styles.summary} aria-label={t("summary.label")}>
      <details>
        <summary className={styles.line}>
          <span className={styles.plan}>{onTrial ? t("summary.trial") : format.planName(check.subscription_tier)}</span>
          <span className={styles.credits}>
            {format.credits(check.credits)} <Badge tone={toneOf[supply]}>{t(`summary.level.${creditLevel(check.credits)}`)}</Badge>
          </span>
          <span className={styles.left}>
            {t("summary.timeLeft")}: {left}
          </span>
          <ChevronDown className={styles.chevron} size={18} aria-hidden="true" />
        </summary>
        <Details check={check} timeLeftText={left} />
      </details>
      {check.status === "past_due" && (
        <Alert tone="warning" title={t("summary.graceTitle")}>
          {t("summary.grace")}
        </Alert>
      )}
    </section>
  );
}

function Details({ check, timeLeftText }: { check: SubscriptionCheck; timeLeftText: string }) {
  const { t } = useTranslation("home");
  const format = useFormat();
  const plan = check.subscription_tier === "none" ? null : plans[check.subscription_tier];
  const facts: [string, string][] = [[t("summary.available"), format.credits(check.credits)]];
  if (plan) facts.push([t("summary.monthly"), format.credits(plan.monthlyCredits)]);
  const end = accessEnd(check);
  if (end) {
    facts.push([t(isLastPeriod(check) || trialStateOf(check) === "running" ? "summary.ends" : "summary.next"), format.date(end)]);
  }
  facts.push([t("summary.timeLeft"), timeLeftText]);
  if (plan) facts.push([t("summary.value"), t("summary.perMonth", { price: format.money(plan.monthlyPriceCents) })]);
  return (
    <div className={styles.details}>
      <dl className={styles.facts}>
        {facts.map(([name, value]) => (
          <div key={name} className={styles.fact}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div className={styles.actions}>
        <LinkButton href={paths.aiModels} variant="primary" size="small">
          {t("summary.chat")}
        </LinkButton>
        {!plan && (
          <LinkButton href={paths.pricing} size="small">
            {t("summary.choosePlan")}
          </LinkButton>
        )}
        <LinkButton href={paths.profile} size="small">
          {t("summary.profile")}
        </LinkButton>
      </div>
    </div>
  );
}
