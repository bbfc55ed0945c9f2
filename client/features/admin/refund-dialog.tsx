import { useState } from "react";
import { useTranslation } from "react-i18next";
import { TextField } from "#client/components/field.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { Invoice } from "#contract/billing/invoices.ts";
import { ActDialog } from "./act-dialog.tsx";
import { centsOf } from "./cents-of.ts";

interface RefundDialogProps {
  userId: string;
  invoice: Pick<Invoice, "id" | "totalCents" | "refundedCents">;
  onClose: () => void;
  onDone: () => void;
  look: () => void;
}

/** Refunds what has not been refunded of an invoice yet, or a part of that. */
export function RefundDialog({ userId, invoice, ...closing }: RefundDialogProps) {
  const { t } = useTranslation("admin");
  const { money } = useFormat();
  const { id: invoiceId, totalCents, refundedCents } = invoice;
  const left = totalCents - refundedCents;
  const [amount, setAmount] = useState((left / 100).toFixed(2));
  // A try that is repeated after a broken connection refunds nothing twice.
  const [key] = useState(() => crypto.randomUUID());
  const amountCents = centsOf(amount);
  const isAmount = amountCents !== undefined && amountCents > 0 && amountCents <= left;
  return (
    <ActDialog
      title={t("person.refund.title")}
      action={t("person.refund.title")}
      danger
      ready={isAmount}
      {...closing}
      wordsOf={(error) => (error instanceof ApiProblem && error.code === "conflict" ? t("person.refund.busy") : undefined)}
      act={(reason) =>
        api("POST /api/admin/people/:userId/refunds", {
          params: { userId },
          body: { invoiceId, amountCents: amountCents ?? 0, refundedCents, reason, key },
        })
      }
    >
      <p>{t("person.refund.text")}</p>
      <TextField
        label={t("person.refund.amount")}
        error={isAmount ? undefined : t("person.refund.wrong", { most: money(left) })}
        inputMode="decimal"
        autoComplete="off"
        trailing="USD"
        required
        value={amount}
        onChange={(event) => setAmount(event.target.value)}
      />
    </ActDialog>
  );
}
