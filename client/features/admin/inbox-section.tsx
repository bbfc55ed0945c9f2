import { useTranslation } from "react-i18next";
import { useSearchParams } from "wouter";
import { Badge } from "#client/components/badge.tsx";
import { api, apiResponse } from "#client/lib/api.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { InboxQuery, InboxRow } from "#contract/admin/inbox.ts";
import { contactCategories } from "#domain/contact.ts";
import { inboxStatuses } from "#domain/inbox.ts";
import { languages } from "#domain/languages.ts";
import { AdminHead } from "./admin-frame.tsx";
import { DataTable } from "./data-table.tsx";
import styles from "./inbox.module.css";
import { InboxMessage } from "./inbox-message.tsx";
import { languageName, statusTones } from "./inbox-names.ts";
import { messagePath } from "./inbox-neighbours.tsx";
import type { TableQuery } from "./use-table.ts";
import { useColleagues } from "./use-team.ts";

/** The server refuses an order or a filter that it doesn't know. */
const load = (query: TableQuery, signal: AbortSignal) => api("GET /api/admin/inbox", { querystring: query as InboxQuery, signal });
const download = (query: TableQuery) => apiResponse("GET /api/admin/inbox.csv", { querystring: query as InboxQuery });

function Messages() {
  const { t } = useTranslation(["inbox", "admin", "contact"]);
  const { dateTime } = useUtc();
  const colleagues = useColleagues();
  const [search] = useSearchParams();
  const statusOf = ({ status }: InboxRow) => <Badge tone={statusTones[status]}>{t(`inbox:statuses.${status}`)}</Badge>;
  const dueOf = ({ dueAt, isOverdue }: InboxRow) =>
    dueAt && (
      <span>
        {dateTime(dueAt)} {isOverdue && <Badge tone="warning">{t("inbox:overdue")}</Badge>}
      </span>
    );
  return (
    <>
      <AdminHead title={t("admin:sections.inbox")} lead={t("inbox:lead")} />
      <DataTable
        list="inbox"
        label={t("admin:sections.inbox")}
        columns={[
          {
            name: "message",
            label: t("inbox:message"),
            cell: ({ subject, beginning }) => <span className={styles.topic}>{subject ?? beginning}</span>,
          },
          { name: "sender", label: t("inbox:sender"), cell: ({ email }) => email },
          {
            name: "kind",
            label: t("inbox:kind"),
            cell: ({ category }) => <span className={styles.kind}>{t(`contact:categories.${category}`)}</span>,
          },
          { name: "status", label: t("inbox:status"), cell: statusOf },
          { name: "owner", label: t("inbox:owner"), cell: ({ owner }) => owner },
          { name: "time", label: t("inbox:received"), cell: ({ createdAt }) => dateTime(createdAt), sort: "time", isTime: true },
          { name: "due", label: t("inbox:due"), cell: dueOf },
          { name: "language", label: t("inbox:language"), cell: ({ language }) => languageName(language), isExtra: true },
          { name: "name", label: t("admin:people.name"), cell: ({ name }) => name, isExtra: true },
        ]}
        filters={[
          { name: "sender", label: t("inbox:senderSearch") },
          {
            name: "status",
            label: t("inbox:status"),
            options: inboxStatuses.map((value) => ({ value, label: t(`inbox:statuses.${value}`) })),
          },
          {
            name: "category",
            label: t("inbox:kind"),
            options: contactCategories.map((value) => ({ value, label: t(`contact:categories.${value}`) })),
          },
          {
            name: "owner",
            label: t("inbox:owner"),
            options: [{ value: "nobody", label: t("inbox:nobody") }, { value: "me", label: t("inbox:me") }, ...colleagues],
          },
          { name: "language", label: t("inbox:language"), options: languages.map(({ code, name }) => ({ value: code, label: name })) },
        ]}
        load={load}
        download={download}
        open={({ id }) => messagePath(id, search)}
        empty={t("inbox:empty")}
      />
    </>
  );
}

/** What people wrote to the team, and one message with its answers. */
export function InboxSection({ id }: { id: string | undefined }) {
  return id === undefined ? <Messages /> : <InboxMessage key={id} messageId={id} />;
}
