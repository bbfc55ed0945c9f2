/** What admins do with an invoice: refund it, record that its transfer was taken back, look at its PDF or at Stripe. */
import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import type { Invoice } from "#contract/billing/invoices.ts";
import { AtStripe } from "./dashboard.tsx";
import { InvoicePdf } from "./invoice-pdf.tsx";
import { RefundDialog } from "./refund-dialog.tsx";
import { ReverseDialog } from "./reverse-dialog.tsx";

export type KnownInvoice = Pick<Invoice, "id" | "state" | "totalCents" | "refundedCents" | "transferReference">;

type Act = "refund" | "reverse";

/** Stripe can't refund a bank transfer. An admin can only record that the bank took it back. */
function actFor({ state, refundedCents, totalCents, transferReference }: KnownInvoice): Act | undefined {
  if (state !== "paid") return;
  if (transferReference !== null) return "reverse";
  return refundedCents < totalCents ? "refund" : undefined;
}

export function InvoiceBadge({ state }: Pick<Invoice, "state">) {
  const { t } = useTranslation("invoices");
  const tone = state === "paid" ? "good" : state === "failed" || state === "action" || state === "uncollectible" ? "danger" : "neutral";
  return <Badge tone={tone}>{t(`state.${state}`)}</Badge>;
}

interface InvoiceActs {
  /** Its buttons, for a row. */
  buttonsOf: (invoice: KnownInvoice) => ReactNode;
  /** To be shown once, beside the rows. */
  dialog: ReactNode;
}

interface Place {
  userId: string;
  dashboardUrl: string | null;
  /** The invoices that were read last. */
  invoices: readonly KnownInvoice[];
  look: () => void;
}

export function useInvoiceActs({ userId, dashboardUrl, invoices, look }: Place): InvoiceActs {
  const { t } = useTranslation("admin");
  const [doing, setDoing] = useState<{ act: Act; invoice: KnownInvoice }>();
  const close = () => setDoing(undefined);
  const finish = () => {
    close();
    look();
  };
  const buttonsOf = (invoice: KnownInvoice) => {
    const act = actFor(invoice);
    return (
      <>
        <AtStripe url={dashboardUrl && `${dashboardUrl}invoices/${invoice.id}`} />
        <InvoicePdf userId={userId} invoiceId={invoice.id} />
        {act && (
          <Button size="small" variant="quiet" onClick={() => setDoing({ act, invoice })}>
            {t(`person.${act}.title`)}
          </Button>
        )}
      </>
    );
  };
  // The dialog uses the invoice as it was read last, so that a second try has the current figures.
  const chosen = doing && (invoices.find(({ id }) => id === doing.invoice.id) ?? doing.invoice);
  const dialog = (
    <>
      {doing?.act === "refund" && chosen && <RefundDialog userId={userId} invoice={chosen} onClose={close} onDone={finish} look={look} />}
      {doing?.act === "reverse" && chosen?.transferReference && (
        <ReverseDialog reference={chosen.transferReference} amountCents={chosen.totalCents} onClose={close} onDone={finish} look={look} />
      )}
    </>
  );
  return { buttonsOf, dialog };
}
