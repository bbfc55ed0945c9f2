import { useCallback, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { api, apiResponse } from "#client/lib/api.ts";
import { useFilterWord } from "#client/lib/filter-words.ts";
import { knownModel } from "#client/lib/known-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { AnswerRow, AnswersQuery, PersonPage } from "#contract/admin/people.ts";
import { filterReasons } from "#domain/filter-reasons.ts";
import { AnswerReading, ReadingBar } from "./answer-reading.tsx";
import { DataTable } from "./data-table.tsx";
import styles from "./person.module.css";
import type { TableQuery } from "./use-table.ts";

const answerStates = ["streaming", "completed", "stopped", "failed"] as const;
const failures = [
  "provider_error",
  "provider_rate_limited",
  "provider_timeout",
  "provider_garbage",
  "provider_empty",
  "content_filtered",
  "interrupted",
  "picture_not_kept",
  "clip_not_kept",
  "queue_too_long",
  "reference_unreadable",
  "sound_not_kept",
  "recording_unreadable",
  "request_refused",
  "files_unreadable",
  "model_gone",
] as const;

/** What became of an answer, and why it failed, in words. A code that this client does not know stays one. */
function useAnswerState(): (answer: Pick<AnswerRow, "status" | "failure" | "filterReason">) => string {
  const { t } = useTranslation("admin");
  const wordOf = useFilterWord();
  return ({ status, failure: code, filterReason }) => {
    const known = failures.find((each) => each === code);
    const failure = known ? t(`person.failure.${known}`) : t("person.failure.other", { code });
    const why = filterReason === null ? failure : `${failure}: ${wordOf(filterReason)}`;
    const state = answerStates.find((each) => each === status) ?? "failed";
    if (code === null) return t(`person.answerState.${state}`);
    return state === "failed" ? t("person.failed", { why }) : `${t(`person.answerState.${state}`)} (${why})`;
  };
}

/** What the list can be narrowed to. */
function useFilters() {
  const { t } = useTranslation(["admin", "outcomes"]);
  const wordOf = useFilterWord();
  return [
    {
      name: "status",
      label: t("people.state"),
      options: answerStates.map((value) => ({ value, label: t(`person.answerState.${value}`) })),
    },
    { name: "filterReason", label: t("outcomes:filter"), options: filterReasons.map((value) => ({ value, label: wordOf(value) })) },
  ];
}

/** Model, price and times. The team reads questions and answers only while the person allows it. */
export function AnswersTab({ page, look }: { page: PersonPage; look: () => void }) {
  const { t } = useTranslation(["admin", "outcomes"]);
  const filters = useFilters();
  const userId = page.person.id;
  const [reading, setReading] = useState<string>();
  const stateOf = useAnswerState();
  const { number, seconds } = useFormat();
  const { dateTime } = useUtc();
  const figure = (value: number | null) => (value === null ? null : number(value));
  const took = (askedAt: string, endedAt: string | null) =>
    endedAt === null ? null : seconds((Date.parse(endedAt) - Date.parse(askedAt)) / 1_000);
  const load = useCallback(
    (query: TableQuery, signal: AbortSignal) =>
      api("GET /api/admin/people/:userId/answers", { params: { userId }, querystring: query as AnswersQuery, signal }),
    [userId],
  );
  const stateCell = (answer: AnswerRow) => (
    <span className={styles.inCell}>
      {stateOf(answer)}
      {page.supportAccess.until !== null && (
        <Button size="small" variant="quiet" onClick={() => setReading(answer.id)}>
          {t("person.reading.read")}
        </Button>
      )}
    </span>
  );
  return (
    <>
      <ReadingBar page={page} look={look} />
      <DataTable
        list="person-answers"
        label={t("person.tabs.answers")}
        columns={[
          { name: "model", label: t("person.model"), cell: ({ model }) => knownModel(model)?.name ?? model },
          { name: "time", label: t("audit.time"), cell: ({ askedAt }) => dateTime(askedAt), sort: "time", isTime: true },
          { name: "status", label: t("people.state"), cell: stateCell },
          { name: "took", label: t("person.took"), cell: ({ askedAt, endedAt }) => took(askedAt, endedAt), isNumber: true },
          { name: "charged", label: t("person.charged"), cell: ({ chargedCredits }) => figure(chargedCredits), isNumber: true },
          { name: "quoted", label: t("person.quoted"), cell: ({ quotedCredits }) => number(quotedCredits), isNumber: true },
          { name: "searches", label: t("outcomes:searches"), cell: ({ searches }) => figure(searches), isNumber: true, isExtra: true },
          {
            name: "thinking",
            label: t("outcomes:thinking"),
            cell: (answer) => figure(answer.thinkingTokens),
            isNumber: true,
            isExtra: true,
          },
          { name: "id", label: t("people.id"), cell: ({ id }) => id, isExtra: true },
        ]}
        filters={filters}
        load={load}
        download={(query) =>
          apiResponse("GET /api/admin/people/:userId/answers.csv", { params: { userId }, querystring: query as AnswersQuery })
        }
        empty={t("person.noAnswers")}
      />
      {reading !== undefined && <AnswerReading userId={userId} answerId={reading} onClose={() => setReading(undefined)} />}
    </>
  );
}
