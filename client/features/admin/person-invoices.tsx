import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { Invoice } from "#contract/invoices.ts";
import { Copied } from "./copied.tsx";
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

function InvoiceRow({ invoice, onAct }: { invoice: Invoice; onAct: (act: Act) => void }) {
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
      {act && (
        <Button size="small" variant="quiet" onClick={() => onAct(act)}>
          {t(`admin:person.${act}.title`)}
        </Button>
      )}
    </li>
  );
}

/** The latest ones. Those paid by card can be refunded; of a transfer it is recorded that the bank took it back. */
export function Invoices({ invoices, userId, onDone }: { invoices: readonly Invoice[]; userId: string; onDone: () => void }) {
  const { t } = useTranslation(["admin", "invoices"]);
  const [doing, setDoing] = useState<{ act: Act; invoice: Invoice }>();
  const close = () => setDoing(undefined);
  const finish = () => {
    close();
    onDone();
  };
  const { act, invoice: chosen } = doing ?? {};
  return (
    <Block title={t("invoices:title")}>
      {invoices.length === 0 && <p className={styles.soft}>{t("admin:person.noInvoices")}</p>}
      <ul className={styles.rows}>
        {invoices.map((invoice) => (
          <InvoiceRow key={invoice.id} invoice={invoice} onAct={(which) => setDoing({ act: which, invoice })} />
        ))}
      </ul>
      {act === "refund" && chosen && <RefundDialog userId={userId} invoice={chosen} onClose={close} onDone={finish} />}
      {act === "reverse" && chosen?.transferReference && (
        <ReverseDialog reference={chosen.transferReference} amountCents={chosen.totalCents} onClose={close} onDone={finish} />
      )}
    </Block>
  );
}
