import { CircleAlert, X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import styles from "#client/components/page-notice.module.css";
import { useAct } from "#client/components/use-act.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useSentences } from "#client/lib/use-sentences.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import { openInvoice } from "./open-invoice.ts";
import { useSubscription } from "./subscription-store.ts";

type Unpaid = NonNullable<SubscriptionCheck["unpaid"]>;

/** The invoice whose notice the person closed. It lasts for the visit, and the next unpaid invoice is shown again. */
const hiddenKey = "unpaidHidden";

function hiddenBefore(): string | null {
  try {
    return sessionStorage.getItem(hiddenKey);
  } catch {
    return null;
  }
}

function keepHidden(invoiceId: string): void {
  try {
    sessionStorage.setItem(hiddenKey, invoiceId);
  } catch {
    // If storage is blocked, the notice is shown again at the next full load.
  }
}

function textOf({ needsAction, processing }: Unpaid, isFirst: boolean) {
  if (processing) return "invoices:unpaid.processing";
  if (needsAction) return "invoices:unpaid.action";
  return isFirst ? "invoices:unpaid.first" : "invoices:unpaid.failed";
}

/**
 * On every page of a person whose plan is unpaid: how much, until when, and the way to pay, unless a bank is about to.
 * It stands above the page and covers nothing.
 */
export function UnpaidNotice({ unpaid }: { unpaid: Unpaid }) {
  const isFirst = useSubscription(({ check }) => check?.status !== "suspended" && check?.unpaid?.until == null);
  const { t } = useTranslation(["invoices", "auth", "errors", "refusals"]);
  const { money, date } = useFormat();
  const sentences = useSentences();
  const { note, waitSeconds, busy, run } = useAct();
  const [hidden, setHidden] = useState(hiddenBefore);
  const { invoiceId, amountCents, until, needsAction, processing, dueAt } = unpaid;
  if (hidden === invoiceId) return null;
  const text = textOf(unpaid, isFirst);

  function hide(): void {
    keepHidden(invoiceId);
    setHidden(invoiceId);
    // The focused button is gone, so the page gets the focus.
    document.getElementById("content")?.focus({ preventScroll: true });
  }

  return (
    <section className={styles.notice} data-tone={processing ? "info" : undefined} aria-label={t("invoices:unpaid.label")}>
      <div className={styles.inner}>
        <CircleAlert className={styles.icon} size={18} aria-hidden="true" />
        <p role="status">
          {sentences(
            dueAt === undefined || processing
              ? t(text, { amount: money(amountCents) })
              : t("invoices:unpaid.transfer", { amount: money(amountCents), date: date(dueAt) }),
            // Access does not end while the bank has not answered.
            until !== null && !processing && t("invoices:unpaid.until", { date: date(until) }),
          )}
        </p>
        {!processing && (
          <Button
            size="small"
            variant="primary"
            busy={busy !== undefined}
            busyLabel={t("invoices:redirecting")}
            aria-disabled={waitSeconds > 0}
            onClick={() => void run("pay", () => openInvoice(invoiceId, "pay"))}
          >
            {t(dueAt !== undefined ? "invoices:unpaid.open" : needsAction ? "invoices:unpaid.confirm" : "invoices:unpaid.pay")}
          </Button>
        )}
        <IconButton label={t("invoices:unpaid.hide")} className={styles.close ?? ""} onClick={hide}>
          <X size={18} aria-hidden="true" />
        </IconButton>
      </div>
      {note && <div className={styles.note}>{note}</div>}
    </section>
  );
}
