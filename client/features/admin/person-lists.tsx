import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { api, apiResponse } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useLedgerWords } from "#client/lib/use-ledger-words.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { LedgerQuery } from "#contract/admin/people.ts";
import type { Explanation, LedgerLine } from "#contract/credits/ledger.ts";
import { Coded } from "./coded.tsx";
import { DataTable } from "./data-table.tsx";
import styles from "./person.module.css";
import { sectionPath } from "./sections.ts";
import type { TableQuery } from "./use-table.ts";
import { useWords } from "./use-words.ts";

/** How the balance came about, computed from the entries: a row for each open grant. */
function Replay({ explanation: { grants, closedCredits, balance, agrees } }: { explanation: Explanation }) {
  const { t } = useTranslation(["usage", "admin"]);
  const { number } = useFormat();
  const { date, range } = useUtc();
  const words = useLedgerWords(range);
  const sum = grants.reduce((total, { remaining }) => total + remaining, 0);
  return (
    <>
      <div className={styles.steps}>
        <table aria-label={t("usage:explain.title")}>
          <thead>
            <tr>
              <th scope="col">{t("admin:person.grant")}</th>
              <th scope="col">{t("usage:explain.received")}</th>
              <th scope="col">{t("usage:kinds.capture")}</th>
              <th scope="col">{t("usage:kinds.expire")}</th>
              <th scope="col">{t("usage:kinds.clawback")}</th>
              <th scope="col">{t("usage:explain.left")}</th>
            </tr>
          </thead>
          <tbody>
            {closedCredits > 0 && (
              <tr>
                <td>{t("usage:explain.closed")}</td>
                <td>{number(closedCredits)}</td>
                <td colSpan={3}>{number(0 - closedCredits)}</td>
                <td>0</td>
              </tr>
            )}
            {grants.map((grant) => (
              <tr key={grant.id}>
                <td>
                  {words.grant(grant)}, {date(grant.createdAt)}
                </td>
                <td>{number(grant.credits)}</td>
                <td>{number(0 - grant.spent)}</td>
                <td>{number(0 - grant.expired)}</td>
                <td>{number(grant.moved - grant.takenBack)}</td>
                <td>{number(grant.remaining)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Alert tone={agrees ? "good" : "danger"}>{t("admin:person.replay", { sum: number(sum), balance: number(balance) })}</Alert>
    </>
  );
}

function useExplanation(userId: string): Explanation | "failed" | undefined {
  const [explanation, setExplanation] = useState<Explanation | "failed">();
  useEffect(() => {
    api("GET /api/admin/people/:userId/explanation", { params: { userId } }).then(setExplanation, () => setExplanation("failed"));
  }, [userId]);
  return explanation;
}

const ledgerKinds = ["grant", "capture", "expire", "clawback", "restore"] as const;

/** How the balance came about, and every change to it, the newest first. */
export function LedgerTab({ userId }: { userId: string }) {
  const { t } = useTranslation(["usage", "billing", "admin"]);
  const { dateTime, range } = useUtc();
  const { number } = useFormat();
  const words = useLedgerWords(range);
  const explanation = useExplanation(userId);
  const load = useCallback(
    async (query: TableQuery, signal: AbortSignal) => {
      const { lines, nextCursor } = await api("GET /api/admin/people/:userId/ledger", {
        params: { userId },
        querystring: query as LedgerQuery,
        signal,
      });
      return { rows: lines, nextCursor };
    },
    [userId],
  );
  const grantOf = ({ grantKind: kind, grantFor, invoice }: LedgerLine) =>
    [words.grant({ kind, grantFor }), invoice && words.invoice(invoice)].filter((part) => part !== null).join(" · ");
  return (
    <>
      {explanation === "failed" && <Alert tone="warning">{t("admin:table.failed")}</Alert>}
      {explanation !== undefined && explanation !== "failed" && <Replay explanation={explanation} />}
      <DataTable<LedgerLine>
        list="person-credits"
        label={t("admin:person.tabs.ledger")}
        columns={[
          { name: "what", label: t("usage:filters.kind"), cell: words.what },
          { name: "time", label: t("admin:audit.time"), cell: ({ occurredAt }) => dateTime(occurredAt), isTime: true },
          {
            name: "credits",
            label: t("admin:people.credits"),
            cell: ({ credits }) => (credits > 0 ? `+${number(credits)}` : number(credits)),
            isNumber: true,
          },
          { name: "balance", label: t("admin:person.balance"), cell: ({ balanceAfter }) => number(balanceAfter), isNumber: true },
          { name: "grant", label: t("admin:person.grant"), cell: grantOf },
          { name: "id", label: t("admin:people.id"), cell: ({ id }) => id, isExtra: true },
        ]}
        filters={[
          {
            name: "kind",
            label: t("usage:filters.kind"),
            options: ledgerKinds.map((value) => ({ value, label: t(`usage:kinds.${value}`) })),
          },
          {
            name: "direction",
            label: t("usage:filters.direction"),
            options: (["in", "out"] as const).map((value) => ({ value, label: t(`usage:directions.${value}`) })),
          },
        ]}
        load={load}
        download={(query) =>
          apiResponse("GET /api/admin/people/:userId/ledger.csv", { params: { userId }, querystring: query as LedgerQuery })
        }
        empty={t("billing:ledger.empty")}
      />
    </>
  );
}

/** What was done to the person; the whole log has the details. */
export function AuditTab({ email }: { email: string }) {
  const { t } = useTranslation("admin");
  const words = useWords();
  const { dateTime } = useUtc();
  const load = useCallback(
    (query: TableQuery, signal: AbortSignal) => api("GET /api/admin/audit", { querystring: { ...query, about: email } as object, signal }),
    [email],
  );
  return (
    <>
      <DataTable
        list="person-audit"
        label={t("person.tabs.audit")}
        columns={[
          { name: "action", label: t("audit.action"), cell: ({ action }) => <Coded word={words.act(action)} code={action} /> },
          { name: "time", label: t("audit.time"), cell: ({ at }) => dateTime(at), sort: "time", isTime: true },
          { name: "by", label: t("audit.by"), cell: ({ actorEmail }) => actorEmail },
          { name: "reason", label: t("audit.reason"), cell: ({ reason }) => reason },
        ]}
        filters={[{ name: "action", label: t("audit.action"), options: words.acts() }]}
        load={load}
        download={(query) => apiResponse("GET /api/admin/audit.csv", { querystring: { ...query, about: email } as object })}
        empty={t("audit.empty")}
      />
      <Link href={`${sectionPath("audit")}?${new URLSearchParams({ about: email })}`}>{t("person.wholeLog")}</Link>
    </>
  );
}
