import { useCallback, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { classNames } from "#client/components/class-names.ts";
import { api, apiResponse } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { InvoiceRow, InvoicesQuery } from "#contract/admin/invoices.ts";
import type { PersonPage } from "#contract/admin/people.ts";
import type { Invoice } from "#contract/billing/invoices.ts";
import { planList } from "#domain/plans.ts";
import { Copied } from "./copied.tsx";
import { DataTable } from "./data-table.tsx";
import { InvoiceBadge, useInvoiceActs } from "./invoice-acts.tsx";
import styles from "./person.module.css";
import { Block } from "./person-block.tsx";
import { sectionPath } from "./sections.ts";
import type { TableQuery } from "./use-table.ts";

interface MoneyPage {
  page: PersonPage & { money: NonNullable<PersonPage["money"]> };
  look: () => void;
}

function InvoiceLine({ invoice }: { invoice: Invoice }) {
  const { t } = useTranslation(["admin", "invoices"]);
  const { money } = useFormat();
  const { dateTime } = useUtc();
  const { id, number, issuedAt, totalCents, refundedCents, state, transferReference } = invoice;
  return (
    <div>
      <p>
        {money(totalCents)} <InvoiceBadge state={state} />
        {refundedCents > 0 && ` ${t("invoices:refunded", { amount: money(refundedCents) })}`}
      </p>
      <p className={styles.soft}>
        {[dateTime(issuedAt), number, transferReference].filter(Boolean).join(" · ")} <Copied what={t("admin:people.id")} value={id} />
      </p>
    </div>
  );
}

/** The latest invoices. Those paid by card can be refunded; for a transfer, an admin records that the bank took it back. */
export function Invoices({ page: { person, money }, look }: MoneyPage) {
  const { t } = useTranslation(["admin", "invoices"]);
  const { invoices, dashboardUrl } = money;
  const { buttonsOf, dialog } = useInvoiceActs({ userId: person.id, dashboardUrl, invoices, look });
  return (
    <Block title={t("invoices:title")}>
      {invoices.length === 0 && <p className={styles.soft}>{t("admin:person.noInvoices")}</p>}
      <ul className={styles.rows}>
        {invoices.map((invoice) => (
          <li key={invoice.id} className={styles.row}>
            <InvoiceLine invoice={invoice} />
            <div className={classNames(styles.acts, styles.quietActs)}>{buttonsOf(invoice)}</div>
          </li>
        ))}
      </ul>
      {invoices.length > 0 && <Link href={`${sectionPath("people")}/${person.id}/invoices`}>{t("admin:needs.all")}</Link>}
      {dialog}
    </Block>
  );
}

/** What the invoice is for, in words. */
function useSubject(): (row: InvoiceRow) => string {
  const { t } = useTranslation("invoices");
  const { credits } = useFormat();
  return ({ plan: key, interval, packCredits }) => {
    const plan = planList.find((each) => each.key === key);
    if (plan && interval) return t(`plan.${interval}`, { plan: plan.name });
    return packCredits === null ? t("other") : t("pack", { credits: credits(packCredits) });
  };
}

const states = ["paid", "open", "processing", "failed", "action", "refunded", "void", "uncollectible"] as const;

/** All invoices of the person. When the person is read again, only the list is reloaded, so that an open dialog keeps what was entered. */
export function InvoicesTab({ page: { person, money: account }, reads, look }: MoneyPage & { reads: number }) {
  const { t } = useTranslation(["admin", "invoices"]);
  const { money } = useFormat();
  const { dateTime } = useUtc();
  const subjectOf = useSubject();
  const [rows, setRows] = useState<InvoiceRow[]>([]);
  const { buttonsOf, dialog } = useInvoiceActs({ userId: person.id, dashboardUrl: account.dashboardUrl, invoices: rows, look });
  const params = { userId: person.id };
  const load = useCallback(
    async (query: TableQuery, signal: AbortSignal) => {
      const read = { params: { userId: person.id }, querystring: query as InvoicesQuery, signal };
      const found = await api("GET /api/admin/people/:userId/invoices", read);
      setRows(found.rows);
      return found;
    },
    [person.id],
  );
  const amount = (cents: number | null) => (cents === null || cents === 0 ? null : money(cents));
  return (
    <>
      <DataTable<InvoiceRow>
        key={reads}
        list="person-invoices"
        label={t("invoices:title")}
        columns={[
          { name: "what", label: t("admin:person.invoice.what"), cell: subjectOf },
          { name: "number", label: t("admin:person.invoice.number"), cell: ({ number }) => number },
          { name: "time", label: t("admin:audit.time"), cell: ({ issuedAt }) => dateTime(issuedAt), sort: "time", isTime: true },
          { name: "state", label: t("admin:people.state"), cell: ({ state }) => <InvoiceBadge state={state} /> },
          { name: "total", label: t("admin:person.invoice.total"), cell: ({ totalCents }) => money(totalCents), isNumber: true },
          { name: "refunded", label: t("invoices:state.refunded"), cell: ({ refundedCents }) => amount(refundedCents), isNumber: true },
          {
            name: "acts",
            label: t("admin:person.invoice.acts"),
            cell: (row) => <span className={classNames(styles.inCell, styles.quietActs)}>{buttonsOf(row)}</span>,
          },
          { name: "tax", label: t("admin:person.invoice.tax"), cell: ({ taxCents }) => amount(taxCents), isNumber: true, isExtra: true },
          { name: "transfer", label: t("admin:person.invoice.transfer"), cell: (row) => row.transferReference, isExtra: true },
          { name: "id", label: t("admin:people.id"), cell: ({ id }) => id, isExtra: true },
        ]}
        filters={[
          {
            name: "state",
            label: t("admin:people.state"),
            options: states.map((value) => ({ value, label: t(`invoices:state.${value}`) })),
          },
        ]}
        load={load}
        download={(query) => apiResponse("GET /api/admin/people/:userId/invoices.csv", { params, querystring: query as InvoicesQuery })}
        empty={t("admin:person.noInvoices")}
      />
      {dialog}
    </>
  );
}
