import { DoctorPanel } from "#client/features/billing/doctor-panel.tsx";
import { InvoicesPanel } from "#client/features/billing/invoices-panel.tsx";
import { MoneyBackPanel } from "#client/features/billing/money-back-panel.tsx";
import { TransferOfferPanel } from "#client/features/billing/transfer-offer-panel.tsx";
import { WithdrawalPanel } from "#client/features/billing/withdrawal-panel.tsx";

/** The account's section about invoices and payments; a chunk of its own, because the other sections do without it. */
export function BillingSection() {
  return (
    <>
      <TransferOfferPanel />
      <InvoicesPanel />
      <WithdrawalPanel />
      <MoneyBackPanel />
      <DoctorPanel />
    </>
  );
}
