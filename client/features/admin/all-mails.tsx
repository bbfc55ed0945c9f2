import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Badge } from "#client/components/badge.tsx";
import { api, apiResponse } from "#client/lib/api.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { SentMailRow, SentMailsQuery } from "#contract/admin/mails.ts";
import { Coded } from "./coded.tsx";
import { DataTable } from "./data-table.tsx";
import { languageName, mailTones } from "./inbox-names.ts";
import { sectionPath } from "./sections.ts";
import type { TableQuery } from "./use-table.ts";
import { useWords } from "./use-words.ts";

const load = (query: TableQuery, signal: AbortSignal) => api("GET /api/admin/mails", { querystring: query as SentMailsQuery, signal });
const download = (query: TableQuery) => apiResponse("GET /api/admin/mails.csv", { querystring: query as SentMailsQuery });

/** Every mail to anybody, and what became of it. */
export function AllMails() {
  const { t } = useTranslation("admin");
  const words = useWords();
  const { dateTime } = useUtc();
  const recipientOf = ({ userId, recipient }: SentMailRow) =>
    userId === null ? recipient : <Link href={`${sectionPath("people")}/${userId}/mails`}>{recipient}</Link>;
  const states = ["waiting", "sent", "refused", "discarded"] as const;
  return (
    <DataTable<SentMailRow>
      list="mails"
      label={t("work.mails")}
      columns={[
        { name: "recipient", label: t("work.recipient"), cell: recipientOf },
        { name: "template", label: t("person.template"), cell: ({ template }) => <Coded word={words.mail(template)} code={template} /> },
        { name: "time", label: t("audit.time"), cell: ({ createdAt }) => dateTime(createdAt), sort: "time", isTime: true },
        {
          name: "state",
          label: t("people.state"),
          cell: ({ state }) => <Badge tone={mailTones[state]}>{t(`person.mailState.${state}`)}</Badge>,
        },
        { name: "error", label: t("work.error"), cell: ({ error }) => error },
        { name: "sent", label: t("person.sent"), cell: ({ sentAt }) => sentAt && dateTime(sentAt), isTime: true, isExtra: true },
        { name: "language", label: t("person.language"), cell: ({ language }) => languageName(language), isExtra: true },
        { name: "id", label: t("people.id"), cell: ({ id }) => id, isExtra: true },
      ]}
      filters={[
        { name: "recipient", label: t("work.recipient") },
        { name: "template", label: t("person.template"), options: words.mails() },
        { name: "state", label: t("people.state"), options: states.map((value) => ({ value, label: t(`person.mailState.${value}`) })) },
        { name: "from", label: t("work.from"), isDay: true },
        { name: "to", label: t("work.to"), isDay: true },
      ]}
      load={load}
      download={download}
      empty={t("person.noMails")}
    />
  );
}
