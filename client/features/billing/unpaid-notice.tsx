import { CircleAlert, X } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { useAct } from "#client/components/use-act.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { openInvoice } from "./open-invoice.ts";
import styles from "./unpaid-notice.module.css";
import type { Unpaid } from "./unpaid-store.ts";
import { hideUnpaid } from "./unpaid-store.ts";

/** On every page of a person whose plan is unpaid: how much, until when, and the way to pay. It stands above the page and covers nothing. */
export function UnpaidNotice({ unpaid }: { unpaid: Unpaid }) {
  const { t } = useTranslation(["unpaid", "auth", "errors", "refusals"]);
  const { money, date } = useFormat();
  const { note, waitSeconds, busy, run } = useAct();
  const { invoiceId, amountCents, until, needsAction } = unpaid;
  const text = needsAction ? "unpaid:action" : until === null ? "unpaid:first" : "unpaid:failed";

  function hide(): void {
    hideUnpaid(invoiceId);
    // The focused button is gone, so the page gets the focus.
    document.getElementById("content")?.focus({ preventScroll: true });
  }

  return (
    <section className={styles.notice} aria-label={t("unpaid:label")}>
      <div className={styles.inner}>
        <CircleAlert className={styles.icon} size={18} aria-hidden="true" />
        <p className={styles.text} role="status">
          {t(text, { amount: money(amountCents) })} {until !== null && t("unpaid:until", { date: date(until) })}
        </p>
        <Button
          size="small"
          variant="primary"
          busy={busy !== undefined}
          busyLabel={t("unpaid:redirecting")}
          aria-disabled={waitSeconds > 0}
          onClick={() => void run("pay", () => openInvoice(invoiceId, "pay"))}
        >
          {t(needsAction ? "unpaid:confirm" : "unpaid:pay")}
        </Button>
        <IconButton label={t("unpaid:hide")} onClick={hide}>
          <X size={18} aria-hidden="true" />
        </IconButton>
      </div>
      {note && <div className={styles.note}>{note}</div>}
    </section>
  );
}
