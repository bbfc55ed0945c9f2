import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Checkbox } from "#client/components/field.tsx";
import { formatDays } from "#client/lib/format-days.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { OrderPreview } from "#contract/billing/orders.ts";
import { plans, withdrawalDays } from "#domain/plans.ts";
import { AcceptedTerms } from "./accepted-terms.tsx";
import styles from "./order.module.css";
import { useTaxText } from "./use-tax-text.ts";

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface OrderViewProps {
  preview: OrderPreview;
  /** In how many days each invoice is to be paid by bank transfer; undefined: it is not. */
  days: number | undefined;
}

/** What is ordered, its price now and later, how it renews, and the right of withdrawal: the information that comes before an order. */
export function OrderView({ preview, days }: OrderViewProps) {
  const { t, i18n } = useTranslation(["order", "change", "invoices", "refunds"]);
  const { money, credits, date, number } = useFormat();
  const taxText = useTaxText();
  const { subject, amountCents, laterCents, until } = preview;
  const day = { date: date(until) };
  const isPlan = subject.kind === "plan";
  return (
    <>
      <div className={styles.item}>
        <p className={styles.name}>{isPlan ? plans[subject.plan].name : t("invoices:pack", { credits: credits(subject.credits) })}</p>
        {isPlan && <p>{t("change:dialog.credits", { credits: credits(preview.credits) })}</p>}
      </div>
      <dl className={styles.sums}>
        <Line name={days !== undefined && isPlan ? t(`order:firstOnly.${subject.interval}`) : t("change:dialog.today")}>
          <span className={styles.total}>{money(amountCents)}</span>
          {isPlan && days === undefined && <span className={styles.soft}>{t(`order:firstOnly.${subject.interval}`)}</span>}
        </Line>
        {isPlan && laterCents !== null && <Line name={t(`change:dialog.later.${subject.interval}`)}>{money(laterCents)}</Line>}
        {!isPlan && <Line name={t("order:until")}>{day.date}</Line>}
      </dl>
      <p className={styles.soft}>{taxText(preview.tax) ?? t("order:total")}</p>
      {preview.tax !== null && days === undefined && <p className={styles.soft}>{t("order:business")}</p>}
      <p>{isPlan ? t(`order:renews.${subject.interval}`, day) : t("order:once")}</p>
      {days !== undefined && <p>{t("order:transfer", { days: formatDays(days, i18n.language) })}</p>}
      <details className={styles.notice}>
        <summary>{t("order:withdrawal")}</summary>
        <p>{t("refunds:withdrawal.lead", { days: number(withdrawalDays) })}</p>
        <p>{t(days === undefined ? "order:how" : "order:howTransfer")}</p>
      </details>
      <AcceptedTerms />
    </>
  );
}

interface OrderConsentProps {
  agreed: boolean;
  /** The person ordered without it. */
  missing: boolean;
  noteId: string;
  onChange: (agreed: boolean) => void;
}

/** The request to begin before the withdrawal period is over. Never ticked in advance (Directive 2011/83/EU, articles 8(8) and 16). */
export function OrderConsent({ agreed, missing, noteId, onChange }: OrderConsentProps) {
  const { t } = useTranslation("order");
  const { number } = useFormat();
  return (
    <>
      <Checkbox
        required
        checked={agreed}
        aria-invalid={missing}
        aria-errormessage={missing ? noteId : undefined}
        label={t("consent", { days: number(withdrawalDays) })}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <p id={noteId} className={styles.missing} role="alert">
        {missing && t("missing")}
      </p>
    </>
  );
}
