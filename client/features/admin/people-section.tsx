import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { api, apiResponse } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { PeopleQuery, PersonRow } from "#contract/admin/people.ts";
import type { TeamRole } from "#domain/team.ts";
import { AdminHead } from "./admin-frame.tsx";
import { ConfirmAgain } from "./confirm-again.tsx";
import { DataTable } from "./data-table.tsx";
import { PersonBadges } from "./person-badges.tsx";
import { PersonView } from "./person-view.tsx";
import { sectionPath } from "./sections.ts";
import { statusText } from "./status-text.ts";
import type { TableQuery } from "./use-table.ts";

/** The server refuses an order or a filter that it doesn't know. */
const load = (query: TableQuery, signal: AbortSignal) => api("GET /api/admin/people", { querystring: query as PeopleQuery, signal });
const download = (query: TableQuery) => apiResponse("GET /api/admin/people.csv", { querystring: query as PeopleQuery });

function People({ role }: { role: TeamRole }) {
  const [sent, setSent] = useState<string>();
  const { t } = useTranslation(["admin", "billing"]);
  const { number, planName } = useFormat();
  const { dateTime } = useUtc();
  const plan = ({ plan: key, planStatus }: PersonRow) =>
    key === null ? null : `${planName(key as Parameters<typeof planName>[0])} · ${t(`billing:subscription.${statusText(planStatus)}`)}`;
  return (
    <>
      <AdminHead title={t("admin:sections.people")} lead={t("admin:people.lead")}>
        {role === "admin" && <ConfirmAgain onSent={setSent} />}
      </AdminHead>
      {sent !== undefined && <Alert tone="good">{t("admin:people.confirm.sent", { email: sent })}</Alert>}
      <DataTable
        list="people"
        label={t("admin:sections.people")}
        columns={[
          { name: "email", label: t("admin:people.email"), cell: ({ email }) => email, sort: "email" },
          { name: "name", label: t("admin:people.name"), cell: ({ name }) => name },
          { name: "plan", label: t("admin:people.plan"), cell: plan },
          { name: "credits", label: t("admin:people.credits"), cell: ({ credits }) => number(credits), isNumber: true },
          { name: "joined", label: t("admin:people.joined"), cell: ({ createdAt }) => dateTime(createdAt), sort: "joined", isTime: true },
          { name: "state", label: t("admin:people.state"), cell: (person) => <PersonBadges person={person} /> },
          {
            name: "lastSignIn",
            label: t("admin:people.lastSignIn"),
            cell: ({ lastSignInAt }) => (lastSignInAt === null ? null : dateTime(lastSignInAt)),
            isTime: true,
            isExtra: true,
          },
          { name: "id", label: t("admin:people.id"), cell: ({ id }) => id, isExtra: true },
        ]}
        filters={[
          { name: "search", label: t("admin:people.search") },
          {
            name: "state",
            label: t("admin:people.state"),
            options: [
              { value: "banned", label: t("admin:people.banned") },
              { value: "deleting", label: t("admin:people.deleting") },
            ],
          },
        ]}
        load={load}
        download={download}
        open={({ id }) => `${sectionPath("people")}/${id}`}
        empty={t("admin:people.empty")}
      />
    </>
  );
}

export function PeopleSection({ role, id, tab }: { role: TeamRole; id: string | undefined; tab: string | undefined }) {
  return id === undefined ? <People role={role} /> : <PersonView key={id} role={role} userId={id} tab={tab} />;
}
