import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { classNames } from "#client/components/class-names.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { PersonPage } from "#contract/admin-people.ts";
import type { Invoice } from "#contract/invoices.ts";
import { Copied } from "./copied.tsx";
import { AtStripe } from "./dashboard.tsx";
import { InvoicePdf } from "./invoice-pdf.tsx";
import styles from "./person.module.css";
import { Block } from "./person-block.tsx";
import { RefundDialog } from "./refund-dialog.tsx";
import { ReverseDialog } from "./reverse-dialog.tsx";

type Act = "refund" | "reverse";

/** What came by bank transfer goes back by one. */
function actFor({ state, refundedCents, totalCents, transferReference }: Invoice): Act | undefined {
  if (state !== "paid") return;
  if (transferReference !== null) return "reverse";
  return refundedCents < totalCents ? "refund" : undefined;
}

interface InvoiceRowProps {
  invoice: Invoice;
  userId: string;
  dashboardUrl: string | null;
  onAct: (act: Act) => void;
}

function InvoiceRow({ invoice, userId, dashboardUrl, onAct }: InvoiceRowProps) {
  const { t } = useTranslation(["admin", "invoices"]);
  const { money } = useFormat();
  const { dateTime } = useUtc();
  const { id, number, issuedAt, totalCents, refundedCents, state, transferReference } = invoice;
  const tone = state === "paid" ? "good" : state === "failed" || state === "action" || state === "uncollectible" ? "danger" : "neutral";
  const act = actFor(invoice);
  return (
    <li className={styles.row}>
      <div>
        <p>
          {money(totalCents)} <Badge tone={tone}>{t(`invoices:state.${state}`)}</Badge>
          {refundedCents > 0 && ` ${t("invoices:refunded", { amount: money(refundedCents) })}`}
        </p>
        <p className={styles.soft}>
          {[dateTime(issuedAt), number, transferReference].filter(Boolean).join(" · ")} <Copied what={t("admin:people.id")} value={id} />
        </p>
      </div>
      <div className={classNames(styles.acts, styles.quietActs)}>
        <AtStripe url={dashboardUrl && `${dashboardUrl}invoices/${id}`} />
        <InvoicePdf userId={userId} invoiceId={id} />
        {act && (
          <Button size="small" variant="quiet" onClick={() => onAct(act)}>
            {t(`admin:person.${act}.title`)}
          </Button>
        )}
      </div>
    </li>
  );
}

/** The latest ones. Those paid by card can be refunded; of a transfer it is recorded that the bank took it back. */
export function Invoices({ page, look }: { page: PersonPage & { money: object }; look: () => void }) {
  const { t } = useTranslation(["admin", "invoices"]);
  const { person, money } = page;
  const { invoices, dashboardUrl } = money;
  const [doing, setDoing] = useState<{ act: Act; invoice: Invoice }>();
  const close = () => setDoing(undefined);
  const finish = () => {
    close();
    look();
  };
  const { act } = doing ?? {};
  // As it was read last, so that the next try has its figures.
  const chosen = doing && (invoices.find(({ id }) => id === doing.invoice.id) ?? doing.invoice);
  return (
    <Block title={t("invoices:title")}>
      {invoices.length === 0 && <p className={styles.soft}>{t("admin:person.noInvoices")}</p>}
      <ul className={styles.rows}>
        {invoices.map((invoice) => (
          <InvoiceRow
            key={invoice.id}
            invoice={invoice}
            userId={person.id}
            dashboardUrl={dashboardUrl}
            onAct={(which) => setDoing({ act: which, invoice })}
          />
        ))}
      </ul>
      {act === "refund" && chosen && <RefundDialog userId={person.id} invoice={chosen} onClose={close} onDone={finish} look={look} />}
      {act === "reverse" && chosen?.transferReference && (
        <ReverseDialog reference={chosen.transferReference} amountCents={chosen.totalCents} onClose={close} onDone={finish} look={look} />
      )}
    </Block>
  );
}
