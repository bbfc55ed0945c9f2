import { useTranslation } from "react-i18next";
import { api, apiResponse } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { WaitingJobRow, WaitingJobsQuery } from "#contract/admin/mails.ts";
import { Coded } from "./coded.tsx";
import { DataTable } from "./data-table.tsx";
import type { TableQuery } from "./use-table.ts";
import { useWords } from "./use-words.ts";

const load = (query: TableQuery, signal: AbortSignal) => api("GET /api/admin/outbox", { querystring: query as WaitingJobsQuery, signal });
const download = (query: TableQuery) => apiResponse("GET /api/admin/outbox.csv", { querystring: query as WaitingJobsQuery });

/** Jobs that are not done yet, the one that is due first. */
export function WaitingJobs() {
  const { t } = useTranslation("admin");
  const words = useWords();
  const { number } = useFormat();
  const { dateTime } = useUtc();
  return (
    <DataTable<WaitingJobRow>
      list="waiting-jobs"
      label={t("work.waitingJobs")}
      columns={[
        { name: "job", label: t("work.job"), cell: ({ job }) => <Coded word={words.job(job)} code={job} /> },
        { name: "written", label: t("work.written"), cell: ({ writtenAt }) => dateTime(writtenAt), isTime: true },
        { name: "due", label: t("work.due"), cell: ({ dueAt }) => dateTime(dueAt), sort: "due", isTime: true },
        { name: "attempts", label: t("work.attempts"), cell: ({ attempts }) => number(attempts), isNumber: true },
        { name: "failures", label: t("work.failures"), cell: ({ failures }) => number(failures), isNumber: true },
        { name: "id", label: t("people.id"), cell: ({ id }) => id, isExtra: true },
      ]}
      filters={[{ name: "job", label: t("work.job"), options: words.jobs() }]}
      load={load}
      download={download}
      empty={t("work.noWaiting")}
    />
  );
}
