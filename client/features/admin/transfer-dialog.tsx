import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Select, TextField } from "#client/components/field.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { AwaitedTransfer } from "#contract/billing/transfers.ts";
import { currency } from "#domain/plans.ts";
import { ActDialog } from "./act-dialog.tsx";
import { centsOf } from "./cents-of.ts";

const shortestAgreement = 5;
const longestAgreement = 500;
const longestReference = 140;

/** A statement may write "3,999.00". */
const amountIn = (text: string) => centsOf(text.replace(/[\s,.\u2019'](?=\d{3}(\D|$))/g, ""));

/** "Enterprise Plan, one month · INV-0007". */
function useInvoiceName(): (invoice: AwaitedTransfer) => string {
  const { t } = useTranslation("invoices");
  const { planName } = useFormat();
  return ({ invoiceId, number, plan, interval }) => {
    const sold = plan === null || interval === null ? t("other") : t(`plan.${interval}`, { plan: planName(plan) });
    return `${sold} · ${number ?? invoiceId}`;
  };
}

/** What a refusal means here, and what to do about it. */
function useWords(): (error: unknown) => string | undefined {
  const { t } = useTranslation("admin");
  return (error) => {
    if (!(error instanceof ApiProblem)) return;
    if (error.code === "idempotency_conflict") return t("person.transfer.otherUse");
    return error.code === "conflict" || error.code === "not_found" ? t("person.transfer.changed") : undefined;
  };
}

function useTransfer(invoices: TransferDialogProps["invoices"]) {
  const [chosen, choose] = useState(invoices[0].invoiceId);
  const [amount, setAmount] = useState("");
  const [reference, setReference] = useState("");
  const [agreed, setAgreed] = useState("");
  const [tried, setTried] = useState(false);
  const invoice = invoices.find(({ invoiceId }) => invoiceId === chosen) ?? invoices[0];
  const isAmount = amountIn(amount) === invoice.amountCents;
  const isAgreed = invoice.isAgreedOn || agreed.trim().length >= shortestAgreement;
  const isReady = isAmount && reference.trim() !== "" && isAgreed;
  return { invoice, amount, reference, agreed, tried, isAmount, isAgreed, isReady, choose, setAmount, setReference, setAgreed, setTried };
}

function AgreedField({ agreed, tried, isAgreed, setAgreed }: ReturnType<typeof useTransfer>) {
  const { t } = useTranslation("admin");
  return (
    <TextField
      label={t("person.transfer.agreed")}
      hint={t("person.transfer.agreedHint")}
      error={tried && !isAgreed ? t("person.transfer.agreedShort") : undefined}
      autoComplete="off"
      maxLength={longestAgreement}
      required
      value={agreed}
      onChange={(event) => setAgreed(event.target.value)}
    />
  );
}

interface TransferDialogProps {
  invoices: readonly [AwaitedTransfer, ...AwaitedTransfer[]];
  onClose: () => void;
  onDone: () => void;
}

/** Records that the money for an invoice has arrived. The amount is typed from the bank's statement, so that a difference is noticed. */
export function TransferDialog({ invoices, onClose, onDone }: TransferDialogProps) {
  const { t } = useTranslation("admin");
  const { money } = useFormat();
  const { date } = useUtc();
  const nameOf = useInvoiceName();
  const wordsOf = useWords();
  const form = useTransfer(invoices);
  const { invoice, amount, reference, agreed, tried, isAmount } = form;
  const { invoiceId, amountCents, isAgreedOn } = invoice;
  const due = { amount: money(amountCents), date: date(invoice.dueAt) };
  const agreedElsewhere = isAgreedOn ? {} : { agreedElsewhere: agreed.trim() };
  const act = (reason: string) =>
    api("POST /api/admin/transfers", {
      body: { invoiceId, reference: reference.trim(), amountCents, currency, reason, ...agreedElsewhere },
    });
  return (
    <ActDialog
      title={t("person.transfer.title")}
      action={t("person.transfer.action")}
      ready={form.isReady}
      onTry={() => form.setTried(true)}
      {...{ onClose, onDone, wordsOf, act }}
    >
      <p>{t("person.transfer.text")}</p>
      <Select
        label={t("person.transfer.invoice")}
        hint={t("person.transfer.due", due)}
        value={invoiceId}
        onChange={(event) => form.choose(event.target.value)}
        options={invoices.map((each) => ({ value: each.invoiceId, label: nameOf(each) }))}
      />
      <TextField
        label={t("person.transfer.amount")}
        error={!isAmount && (tried || amount !== "") ? t("person.transfer.wrong", due) : undefined}
        inputMode="decimal"
        autoComplete="off"
        trailing={currency.toUpperCase()}
        required
        value={amount}
        onChange={(event) => form.setAmount(event.target.value)}
      />
      <TextField
        label={t("person.transfer.reference")}
        hint={t("person.transfer.referenceHint")}
        error={tried && reference.trim() === "" ? t("person.transfer.noReference") : undefined}
        autoComplete="off"
        maxLength={longestReference}
        required
        value={reference}
        onChange={(event) => form.setReference(event.target.value)}
      />
      {!isAgreedOn && <AgreedField {...form} />}
    </ActDialog>
  );
}
