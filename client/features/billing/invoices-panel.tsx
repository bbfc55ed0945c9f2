import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import type { Tone } from "#client/components/badge.tsx";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { Panel } from "#client/components/panel.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { useAct } from "#client/components/use-act.ts";
import { formatRange } from "#client/lib/format-range.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { Invoice, InvoiceDocument, InvoiceState } from "#contract/billing/invoices.ts";
import styles from "./invoices.module.css";
import { openInvoice } from "./open-invoice.ts";
import { useInvoices } from "./use-invoices.ts";

const tones: Readonly<Record<InvoiceState, Tone>> = {
  paid: "good",
  open: "warning",
  processing: "neutral",
  failed: "danger",
  action: "warning",
  refunded: "neutral",
  void: "neutral",
  uncollectible: "neutral",
};

/** What can be opened of an invoice: where something is owed, first of all the page where it is paid. */
function documentsOf({ state }: Invoice): InvoiceDocument[] {
  if (state === "open" || state === "failed" || state === "action" || state === "uncollectible") return ["pay", "pdf"];
  return state === "void" || state === "processing" ? ["pdf"] : ["pdf", "receipt"];
}

function useSubject({ subject }: Invoice): string {
  const { t } = useTranslation("invoices");
  const { credits, planName } = useFormat();
  if (subject.kind === "plan") return t(`plan.${subject.interval}`, { plan: planName(subject.plan) });
  return subject.kind === "pack" ? t("pack", { credits: credits(subject.credits) }) : t("other");
}

function Documents({ invoice }: { invoice: Invoice }) {
  const { t } = useTranslation("invoices");
  const { money } = useFormat();
  const { note, waitSeconds, busy, run } = useAct();
  const number = invoice.number ?? "";
  return (
    <>
      <div className={styles.documents}>
        {documentsOf(invoice).map((document) => {
          const name = document === "pay" && invoice.state === "action" ? "confirm" : document;
          return (
            <Button
              key={document}
              size="small"
              variant={document === "pay" ? "primary" : "secondary"}
              busy={busy === document}
              busyLabel={t(document === "pay" ? "redirecting" : "opening")}
              aria-disabled={waitSeconds > 0}
              aria-label={busy === document ? undefined : t(`documentOf.${name}`, { number })}
              onClick={() => void run(document, () => openInvoice(invoice.id, document))}
            >
              {t(`document.${name}`)}
            </Button>
          );
        })}
        {invoice.creditNotes.map(({ id, number: noteNumber, amountCents }) => (
          <Button
            key={id}
            size="small"
            busy={busy === id}
            busyLabel={t("opening")}
            aria-disabled={waitSeconds > 0}
            aria-label={busy === id ? undefined : t("documentOf.creditNote", { number: noteNumber, amount: money(amountCents) })}
            onClick={() => void run(id, () => openInvoice(invoice.id, { creditNote: id }))}
          >
            {t("document.creditNote")}
          </Button>
        ))}
      </div>
      {note && <div className={styles.note}>{note}</div>}
    </>
  );
}

function Row({ invoice }: { invoice: Invoice }) {
  const { t, i18n } = useTranslation("invoices");
  const { money, date, percent } = useFormat();
  const { subject, number, issuedAt, totalCents, refundedCents, state, transferReference, tax, addressMissing } = invoice;
  const taxText = ({ cents, percent: rate }: NonNullable<Invoice["tax"]>) =>
    rate === null ? t("tax", { amount: money(cents) }) : t("taxAt", { amount: money(cents), percent: percent(rate) });
  const isPartial = refundedCents > 0 && state !== "refunded";
  return (
    <li className={styles.row}>
      <p className={styles.what}>{useSubject(invoice)}</p>
      <p className={styles.detail}>
        <time dateTime={issuedAt}>{date(issuedAt)}</time>
        {subject.kind === "plan" && <span>{t("period", { period: formatRange(subject.from, subject.until, i18n.language) })}</span>}
        {number !== null && <span>{t("number", { number })}</span>}
        {transferReference !== null && <span>{t("transfer", { reference: transferReference })}</span>}
        {tax !== null && <span>{taxText(tax)}</span>}
        {addressMissing && <span>{t("addressMissing")}</span>}
        {isPartial && <span>{t("refunded", { amount: money(refundedCents) })}</span>}
      </p>
      <p className={styles.amount}>{money(totalCents)}</p>
      <p className={styles.state}>
        <Badge tone={tones[state]}>{t(`state.${state}`)}</Badge>
      </p>
      <Documents invoice={invoice} />
    </li>
  );
}

/** All invoices of the person, with what can be opened of each. */
export function InvoicesPanel() {
  const { t } = useTranslation(["invoices", "common", "errors", "refusals"]);
  const { state, look, more } = useInvoices();
  const { note, waitSeconds, busy, run } = useAct();
  const again = (
    <Button size="small" onClick={() => void look()}>
      {t("common:retry")}
    </Button>
  );
  return (
    <Panel name="invoices" title={t("invoices:title")} lead={[t("invoices:lead")]}>
      {state.status === "loading" && <Spinner label={t("invoices:loading")} />}
      {state.status === "failed" && (
        <Alert tone="warning" action={again}>
          {t("invoices:failed")}
        </Alert>
      )}
      {state.status === "known" && state.page.reading && <p role="status">{t("invoices:reading")}</p>}
      {state.status === "known" && state.page.invoices.length === 0 && !state.page.reading && (
        <p className={styles.empty}>{t("invoices:empty")}</p>
      )}
      {state.status === "known" && state.page.invoices.length > 0 && (
        <ul className={styles.rows}>
          {state.page.invoices.map((invoice) => (
            <Row key={invoice.id} invoice={invoice} />
          ))}
        </ul>
      )}
      {note}
      {state.status === "known" && state.page.nextCursor !== null && (
        <Button
          busy={busy !== undefined}
          busyLabel={t("invoices:loading")}
          aria-disabled={waitSeconds > 0}
          onClick={() => void run("more", () => more(state.page.nextCursor ?? ""))}
        >
          {t("invoices:older")}
        </Button>
      )}
    </Panel>
  );
}
