import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { classNames } from "#client/components/class-names.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { PlanChangePreview } from "#contract/billing/plan-change.ts";
import { plans } from "#domain/plans.ts";
import { AcceptedTerms } from "./accepted-terms.tsx";
import styles from "./plan-change.module.css";
import { useNamedPlan } from "./use-named-plan.ts";
import { useTaxText } from "./use-tax-text.ts";

function Sold({ when, sold, isNew = false }: { when: string; sold: PlanChangePreview["to"]; isNew?: boolean }) {
  const { t } = useTranslation("change");
  const { money, credits } = useFormat();
  return (
    <div className={classNames(styles.plan, isNew && styles.to)}>
      <p className={styles.when}>{when}</p>
      <p className={styles.name}>{plans[sold.plan].name}</p>
      <p>{t(`dialog.price.${sold.interval}`, { price: money(sold.priceCents) })}</p>
      <p>{t("dialog.credits", { credits: credits(sold.credits) })}</p>
    </div>
  );
}

function Sum({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** What a change means in money, dates and credits. */
export function PlanChangeView({ preview }: { preview: PlanChangePreview }) {
  const { t } = useTranslation("change");
  const { money, credits, date } = useFormat();
  const nameOf = useNamedPlan();
  const taxText = useTaxText();
  const { from, to, dueNowCents, amountCents, laterCents, planCreditsLeft, replaces } = preview;
  const day = { date: date(preview.effectiveAt) };
  return (
    <>
      <div className={styles.plans}>
        <Sold when={t("dialog.now")} sold={from} />
        <Sold when={t("dialog.then", day)} sold={to} isNew />
      </div>
      <dl className={styles.sums}>
        <Sum name={t("dialog.today")}>{money(dueNowCents)}</Sum>
        <Sum name={t("dialog.first", day)}>
          {money(amountCents)}
          {amountCents < to.priceCents && <span className={styles.soft}>{t("dialog.discount", { price: money(to.priceCents) })}</span>}
        </Sum>
        <Sum name={t(`dialog.later.${to.interval}`)}>{money(laterCents)}</Sum>
      </dl>
      {preview.tax && <p className={styles.soft}>{taxText(preview.tax)}</p>}
      <ul className={styles.points}>
        <li>{t(`dialog.left.${from.interval}`, { ...day, credits: credits(planCreditsLeft) })}</li>
        {replaces && <li>{t("dialog.replaces", { plan: nameOf(replaces) })}</li>}
        <li>{t("dialog.undoUntil")}</li>
      </ul>
      <AcceptedTerms />
    </>
  );
}
