import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { api, apiResponse } from "#client/lib/api.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { EventAct, EventRow, EventsQuery, LetterRow, LettersQuery } from "#contract/admin-work.ts";
import { askedEventStatuses } from "#domain/stripe-events.ts";
import { AdminHead } from "./admin-frame.tsx";
import { Coded } from "./coded.tsx";
import { Copied } from "./copied.tsx";
import { Facts } from "./facts.tsx";
import styles from "./person.module.css";
import { RefusedMails } from "./refused-mails.tsx";
import { sectionPath } from "./sections.ts";
import type { TableQuery } from "./use-table.ts";
import { useWords } from "./use-words.ts";
import { WorkTable } from "./work-table.tsx";

const tabs = ["jobs", "mails", "events"] as const;

function Payload({ value }: { value: unknown }) {
  return <pre className={styles.payload}>{JSON.stringify(value, undefined, 2)}</pre>;
}

const loadLetters = (query: TableQuery, signal: AbortSignal) =>
  api("GET /api/admin/dead-letters", { querystring: query as LettersQuery, signal });

function LetterView({ letter }: { letter: LetterRow }) {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  return (
    <>
      <Facts
        facts={[
          { label: t("people.id"), value: <Copied what={t("people.id")} value={letter.id} /> },
          { label: t("audit.time"), value: dateTime(letter.failedAt) },
          { label: t("people.state"), value: t(`work.states.${letter.state}`) },
          { label: t("work.error"), value: letter.error },
        ]}
      />
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
      view={(letter) => <LetterView letter={letter} />}
      isOpen={({ state }) => state === "waiting"}
      acts={(_letters, ask) =>
        (["replay", "discard"] as const).map((name) => (
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

const loadEvents = (query: TableQuery, signal: AbortSignal) =>
  api("GET /api/admin/stripe-events", { querystring: query as EventsQuery, signal });

/** What an event contains, and what the team did to it, the latest first. */
function EventContent({ eventId }: { eventId: string }) {
  const { t } = useTranslation(["admin", "common"]);
  const { dateTime } = useUtc();
  const [content, setContent] = useState<{ payload: unknown; acts: EventAct[] } | "failed">();
  const look = useCallback(() => {
    setContent(undefined);
    api("GET /api/admin/stripe-events/:eventId", { params: { eventId } }).then(setContent, () => setContent("failed"));
  }, [eventId]);
  useEffect(look, [look]);
  const again = (
    <Button size="small" onClick={look}>
      {t("common:retry")}
    </Button>
  );
  if (content === undefined) return <Spinner label={t("admin:table.reading")} />;
  if (content === "failed")
    return (
      <Alert tone="warning" action={again}>
        {t("admin:work.readFailed")}
      </Alert>
    );
  return (
    <>
      {content.acts.length > 0 && (
        <ul aria-label={t("admin:work.acts")} className={styles.rows}>
          {content.acts.map(({ at, act, by, reason }) => (
            <li key={at} className={styles.row}>
              <span>
                {t(act === "discarded" ? "admin:work.states.discarded" : "admin:work.states.replayed")}: {reason}{" "}
                <span className={styles.soft}>
                  {by ?? t("admin:audit.nobody")}, {dateTime(at)}
                </span>
              </span>
            </li>
          ))}
        </ul>
      )}
      <Payload value={content.payload} />
    </>
  );
}

/** An object of Stripe's by which a person can be found, as a link to whom it is of. */
function ToPerson({ objectId }: { objectId: string }) {
  const { t } = useTranslation("admin");
  const isFindable = /^(cus|sub|in|ch)_/.test(objectId);
  return (
    <>
      <Copied what={t("work.object")} value={objectId} />
      {isFindable && (
        <>
          {" "}
          <Link href={`${sectionPath("people")}?${new URLSearchParams({ search: objectId })}`}>{t("needs.open")}</Link>
        </>
      )}
    </>
  );
}

function EventView({ event }: { event: EventRow }) {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  return (
    <>
      <Facts
        facts={[
          { label: t("people.id"), value: <Copied what={t("people.id")} value={event.id} /> },
          { label: t("work.object"), value: event.objectId && <ToPerson objectId={event.objectId} /> },
          { label: t("audit.time"), value: dateTime(event.receivedAt) },
          { label: t("people.state"), value: t(`work.status.${event.status}`) },
          { label: t("work.processed"), value: event.processedAt && dateTime(event.processedAt) },
          { label: t("work.error"), value: event.error },
        ]}
      />
      <EventContent eventId={event.id} />
    </>
  );
}

const canDiscard = ({ status }: EventRow) => status === "set_aside" || status === "failed";
const isDiscarded = ({ status }: EventRow) => status === "discarded";

function Events() {
  const { t } = useTranslation("admin");
  const words = useWords();
  const { dateTime } = useUtc();
  return (
    <WorkTable<EventRow>
      list="events"
      label={t("work.events")}
      columns={[
        { name: "type", label: t("work.type"), cell: ({ type }) => <Coded word={words.event(type)} code={type} /> },
        { name: "time", label: t("audit.time"), cell: ({ receivedAt }) => dateTime(receivedAt), sort: "time", isTime: true },
        { name: "status", label: t("people.state"), cell: ({ status }) => t(`work.status.${status}`) },
        { name: "object", label: t("work.object"), cell: ({ objectId }) => objectId },
        { name: "error", label: t("work.error"), cell: ({ error }) => error?.split("\n", 1)[0], isExtra: true },
        { name: "id", label: t("people.id"), cell: ({ id }) => id },
      ]}
      filters={[
        { name: "type", label: t("work.type") },
        { name: "event", label: t("people.id") },
        {
          name: "status",
          label: t("people.state"),
          options: askedEventStatuses.map((value) => ({ value, label: t(`work.status.${value}`) })),
        },
      ]}
      load={loadEvents}
      download={(query) => apiResponse("GET /api/admin/stripe-events.csv", { querystring: query as EventsQuery })}
      empty={t("work.noEvents")}
      titleOf={({ type }) => `${words.event(type)}: ${type}`}
      nameOf={({ type, id }) => `${type}, ${id}`}
      view={(event) => <EventView key={event.id} event={event} />}
      isOpen={({ status }) => status !== "received"}
      acts={(events, ask) => {
        const isBack = events.every(isDiscarded);
        const again = t(isBack ? "work.putBack" : "work.replay");
        const replay = (ids: string[], reason: string) => api("POST /api/admin/stripe-events/replay", { body: { ids, reason } });
        const discard = (ids: string[], reason: string) => api("POST /api/admin/stripe-events/discard", { body: { ids, reason } });
        return (
          <>
            <Button
              size="small"
              variant="primary"
              onClick={() => ask({ title: again, act: replay, ...(isBack && { text: t("work.putBackText") }) })}
            >
              {again}
            </Button>
            {events.some(canDiscard) && (
              <Button
                size="small"
                onClick={() => ask({ title: t("work.discard"), danger: true, text: t("work.discardText"), act: discard })}
              >
                {t("work.discard")}
              </Button>
            )}
          </>
        );
      }}
    />
  );
}

/** Jobs that failed for good, and what Stripe sent; each can be done again, or several at once. */
export function WorkSection({ id }: { id: string | undefined }) {
  const { t } = useTranslation("admin");
  const current = tabs.find((tab) => tab === id) ?? "jobs";
  return (
    <>
      <AdminHead title={t("sections.work")} lead={t("work.lead")} />
      <nav aria-label={t("sections.work")} className={styles.tabs}>
        {tabs.map((tab) => (
          <Link
            key={tab}
            href={tab === "jobs" ? sectionPath("work") : `${sectionPath("work")}/${tab}`}
            className={styles.tab}
            aria-current={tab === current ? "page" : undefined}
          >
            {tab === "mails" ? t("needs.refusedMails") : t(`work.${tab}`)}
          </Link>
        ))}
      </nav>
      {current === "jobs" && <Jobs />}
      {current === "mails" && <RefusedMails />}
      {current === "events" && <Events />}
    </>
  );
}
