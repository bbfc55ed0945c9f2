import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Dialog } from "#client/components/dialog.tsx";
import { api, apiResponse } from "#client/lib/api.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { AuditRow } from "#contract/admin/team.ts";
import type { Calls } from "#contract/api.ts";
import { AdminHead } from "./admin-frame.tsx";
import { Coded } from "./coded.tsx";
import { DataTable } from "./data-table.tsx";
import { Facts } from "./facts.tsx";
import { useDetails } from "./use-details.ts";
import type { TableQuery } from "./use-table.ts";
import { useWords } from "./use-words.ts";

type Query = NonNullable<Calls["GET /api/admin/audit"]["querystring"]>;

/** The server refuses an order or a filter that it doesn't know. */
const load = (query: TableQuery, signal: AbortSignal) => api("GET /api/admin/audit", { querystring: query as Query, signal });
const download = (query: TableQuery) => apiResponse("GET /api/admin/audit.csv", { querystring: query as Query });

/** What was done, by whom and why. */
export function AuditSection() {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  const words = useWords();
  const detailsOf = useDetails();
  const [opened, setOpened] = useState<AuditRow>();
  const facts = opened && [
    { label: t("audit.action"), value: <code>{opened.action}</code> },
    { label: t("audit.time"), value: dateTime(opened.at) },
    { label: t("audit.by"), value: opened.actorEmail ?? t("audit.nobody") },
    { label: t("audit.about"), value: opened.subjectEmail ?? t("audit.nobody") },
    { label: t("audit.reason"), value: opened.reason },
    { label: t("audit.network"), value: opened.network },
    ...detailsOf(opened.details),
  ];
  return (
    <>
      <AdminHead title={t("sections.audit")} lead={t("audit.lead")} />
      <DataTable
        list="audit"
        label={t("sections.audit")}
        columns={[
          { name: "action", label: t("audit.action"), cell: ({ action }) => <Coded word={words.act(action)} code={action} /> },
          { name: "time", label: t("audit.time"), cell: ({ at }) => dateTime(at), sort: "time", isTime: true },
          { name: "by", label: t("audit.by"), cell: ({ actorEmail }) => actorEmail },
          { name: "about", label: t("audit.about"), cell: ({ subjectEmail }) => subjectEmail },
          { name: "reason", label: t("audit.reason"), cell: ({ reason }) => reason },
          { name: "network", label: t("audit.network"), cell: ({ network }) => network, isExtra: true },
        ]}
        filters={[
          { name: "action", label: t("audit.action"), options: words.acts() },
          { name: "by", label: t("audit.by") },
          { name: "about", label: t("audit.about") },
        ]}
        load={load}
        download={download}
        open={(row) => () => setOpened(row)}
        empty={t("audit.empty")}
      />
      <Dialog open={opened !== undefined} onClose={() => setOpened(undefined)} title={opened ? words.act(opened.action) : ""}>
        {facts && <Facts facts={facts} />}
      </Dialog>
    </>
  );
}
