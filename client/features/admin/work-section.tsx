import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { api, apiResponse } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { LetterRow, LettersQuery } from "#contract/admin/work.ts";
import { AdminHead } from "./admin-frame.tsx";
import { AllMails } from "./all-mails.tsx";
import { Coded } from "./coded.tsx";
import { Copied } from "./copied.tsx";
import { Facts } from "./facts.tsx";
import { Payload } from "./payload.tsx";
import { RefusedMails } from "./refused-mails.tsx";
import { sectionPath } from "./sections.ts";
import { TabLinks } from "./tab-links.tsx";
import type { TableQuery } from "./use-table.ts";
import { useWords } from "./use-words.ts";
import { WaitingJobs } from "./waiting-jobs.tsx";
import { actsOn, LetterActs, LetterState } from "./work-acts.tsx";
import { Events } from "./work-events.tsx";
import { WorkTable } from "./work-table.tsx";

const tabs = ["jobs", "waiting", "mails", "sent", "events"] as const;

const loadLetters = (query: TableQuery, signal: AbortSignal) =>
  api("GET /api/admin/dead-letters", { querystring: query as LettersQuery, signal });

/** A discarded job can be run again, except one that processes an event of Stripe's: that is brought back in the list of events. */
const canReplay = ({ state, job }: LetterRow) => state === "waiting" || (state === "discarded" && job !== "process-stripe-event");

function LetterView({ letter }: { letter: LetterRow }) {
  const { t } = useTranslation("admin");
  const { number } = useFormat();
  const { dateTime } = useUtc();
  return (
    <>
      <Facts
        facts={[
          { label: t("people.id"), value: <Copied what={t("people.id")} value={letter.id} /> },
          { label: t("audit.time"), value: dateTime(letter.failedAt) },
          { label: t("work.failures"), value: number(letter.attempts) },
          { label: t("people.state"), value: <LetterState letter={letter} /> },
          { label: t("work.error"), value: letter.error },
        ]}
      />
      <LetterActs letterId={letter.id} />
      <Payload value={letter.payload} />
    </>
  );
}

function Jobs() {
  const { t } = useTranslation("admin");
  const words = useWords();
  const { dateTime } = useUtc();
  return (
    <WorkTable<LetterRow>
      list="jobs"
      label={t("work.jobs")}
      columns={[
        { name: "job", label: t("work.job"), cell: ({ job }) => <Coded word={words.job(job)} code={job} /> },
        { name: "time", label: t("audit.time"), cell: ({ failedAt }) => dateTime(failedAt), sort: "time", isTime: true },
        { name: "state", label: t("people.state"), cell: ({ state }) => t(`work.states.${state}`) },
        { name: "error", label: t("work.error"), cell: ({ error }) => error },
        { name: "id", label: t("people.id"), cell: ({ id }) => id, isExtra: true },
      ]}
      filters={[
        { name: "job", label: t("work.job"), options: words.jobs() },
        {
          name: "state",
          label: t("people.state"),
          options: (["waiting", "replayed", "discarded"] as const).map((value) => ({ value, label: t(`work.states.${value}`) })),
        },
      ]}
      load={loadLetters}
      download={(query) => apiResponse("GET /api/admin/dead-letters.csv", { querystring: query as LettersQuery })}
      empty={t("work.noJobs")}
      titleOf={({ job }) => words.job(job)}
      nameOf={({ job, failedAt }) => `${words.job(job)}, ${dateTime(failedAt)}`}
      view={(letter) => <LetterView key={letter.id} letter={letter} />}
      isOpen={canReplay}
      acts={(letters, ask) =>
        actsOn(letters).map((name) => (
          <Button
            key={name}
            size="small"
            variant={name === "replay" ? "primary" : "secondary"}
            onClick={() =>
              ask({
                title: t(`work.${name}`),
                danger: name === "discard",
                act: (ids, reason) => api(`POST /api/admin/dead-letters/${name}`, { body: { ids, reason } }),
              })
            }
          >
            {t(`work.${name}`)}
          </Button>
        ))
      }
    />
  );
}

const titles = {
  jobs: "work.jobs",
  waiting: "work.waitingJobs",
  mails: "needs.refusedMails",
  sent: "work.mails",
  events: "work.events",
} as const satisfies Record<(typeof tabs)[number], string>;

/** Jobs, mails and what Stripe sent; each can be done again, or several at once. */
export function WorkSection({ id }: { id: string | undefined }) {
  const { t } = useTranslation("admin");
  const current = tabs.find((tab) => tab === id) ?? "jobs";
  const links = tabs.map((tab) => ({
    address: tab === "jobs" ? sectionPath("work") : `${sectionPath("work")}/${tab}`,
    label: t(titles[tab]),
    isCurrent: tab === current,
  }));
  return (
    <>
      <AdminHead title={t("sections.work")} lead={t("work.lead")} />
      <TabLinks label={t("sections.work")} tabs={links} />
      {current === "jobs" && <Jobs />}
      {current === "mails" && <RefusedMails />}
      {current === "waiting" && <WaitingJobs />}
      {current === "sent" && <AllMails />}
      {current === "events" && <Events />}
    </>
  );
}
