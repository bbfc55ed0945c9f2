import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { api, apiResponse } from "#client/lib/api.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { EventRow, EventsQuery, WorkAct } from "#contract/admin/work.ts";
import { askedEventStatuses } from "#domain/stripe-events.ts";
import { Coded } from "./coded.tsx";
import { Copied } from "./copied.tsx";
import { Facts } from "./facts.tsx";
import { Payload } from "./payload.tsx";
import { sectionPath } from "./sections.ts";
import { ShortId } from "./short-id.tsx";
import type { TableQuery } from "./use-table.ts";
import { useWords } from "./use-words.ts";
import { Acts } from "./work-acts.tsx";
import { WorkTable } from "./work-table.tsx";

const loadEvents = (query: TableQuery, signal: AbortSignal) =>
  api("GET /api/admin/stripe-events", { querystring: query as EventsQuery, signal });

/** What an event contains, and what the team did to it, the latest first. */
function EventContent({ eventId }: { eventId: string }) {
  const { t } = useTranslation(["admin", "common"]);
  const [content, setContent] = useState<{ payload: unknown; acts: WorkAct[] } | "failed">();
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
      <Acts acts={content.acts} />
      <Payload value={content.payload} />
    </>
  );
}

/** The server finds people by these ids (people-table.ts, billing/customer-of.ts). */
const findable = /^(cus|sub|in|ch|py|pi|cs|re|pyr|dp|du|cn)_/;

/** An object of Stripe's by which a person can be found, as a link to whom it is of. */
function ToPerson({ objectId }: { objectId: string }) {
  const { t } = useTranslation("admin");
  const isFindable = findable.test(objectId);
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

/** What Stripe sent; each can be acted on again or discarded, or several at once. */
export function Events() {
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
        { name: "object", label: t("work.object"), cell: ({ objectId }) => objectId && <ShortId id={objectId} /> },
        { name: "error", label: t("work.error"), cell: ({ error }) => error?.split("\n", 1)[0], isExtra: true },
        { name: "id", label: t("people.id"), cell: ({ id }) => <ShortId id={id} /> },
      ]}
      filters={[
        { name: "type", label: t("work.type") },
        { name: "event", label: t("people.id") },
        { name: "object", label: t("work.object") },
        { name: "customer", label: t("work.customer") },
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
