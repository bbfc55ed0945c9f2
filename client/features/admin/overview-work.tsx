/** What waits to be done now, and how the providers answer. */
import { useCallback, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { FigureTable } from "#client/components/figure-table.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { api, isAbort } from "#client/lib/api.ts";
import { providerName } from "#client/lib/provider-names.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { WorkFigures } from "#contract/figures.ts";
import { percentOf } from "#domain/figures.ts";
import styles from "./overview.module.css";

type State = { status: "loading" } | { status: "failed" } | { status: "known"; work: WorkFigures };

/** Often enough to watch a queue empty itself. */
const readEveryMs = 15_000;

function useWork(): { state: State; read: () => void } {
  const [state, setState] = useState<State>({ status: "loading" });
  const abort = useRef(new AbortController());
  const look = useCallback(() => {
    api("GET /api/admin/work", { signal: abort.current.signal }).then(
      (work) => setState({ status: "known", work }),
      (error: unknown) => isAbort(error) || setState({ status: "failed" }),
    );
  }, []);
  const read = useCallback(() => {
    setState({ status: "loading" });
    look();
  }, [look]);
  useEffect(() => {
    abort.current = new AbortController();
    look();
    const timer = setInterval(() => document.visibilityState === "visible" && look(), readEveryMs);
    return () => {
      clearInterval(timer);
      abort.current.abort();
    };
  }, [look]);
  return { state, read };
}

const queues = ["jobs", "stripeEvents", "deadLetters", "clips", "running"] as const;

function Work({ work }: { work: WorkFigures }) {
  const { t } = useTranslation("figures");
  const { number, percent, list } = useFormat();
  const { dateTime } = useUtc();
  const stateOf = ({ paused, available, answers }: WorkFigures["providers"][number]) => {
    if (!available) return t("work.noKey");
    if (paused.length > 0) return t("work.paused", { models: list(paused) });
    return answers === 0 ? t("work.idle") : t("work.answering");
  };
  return (
    <div className={styles.beside}>
      <FigureTable
        isDense
        label={t("work.queues")}
        head={t("work.queues")}
        columns={[{ label: t("work.waiting") }, { label: t("work.oldest") }]}
        rows={queues.map((name) => {
          const queue = work[name];
          const oldestAt = "oldestAt" in queue ? queue.oldestAt : null;
          return {
            key: name,
            head: t(`work.${name}`),
            cells: [
              queue.isMore ? t("work.more", { formatted: number(queue.count) }) : number(queue.count),
              oldestAt === null ? "–" : dateTime(oldestAt),
            ],
          };
        })}
      />
      <FigureTable
        isDense
        label={t("work.providers")}
        head={t("work.provider")}
        columns={[{ label: t("work.answers") }, { label: t("answers.failures") }, { label: t("work.state") }]}
        rows={work.providers.map((provider) => {
          const share = percentOf(provider.failed, provider.answers);
          return {
            key: provider.provider,
            head: providerName(provider.provider),
            cells: [number(provider.answers), share === null ? "–" : percent(share), stateOf(provider)],
          };
        })}
      />
    </div>
  );
}

export function WorkBlock() {
  const { t } = useTranslation(["figures", "common"]);
  const { time } = useUtc();
  const { state, read } = useWork();
  const again = (
    <Button size="small" onClick={read}>
      {t("common:retry")}
    </Button>
  );
  return (
    <section className={styles.block} aria-labelledby="work-title">
      <header>
        <h2 id="work-title" className={styles.title}>
          {t("figures:work.title")}
        </h2>
        {state.status === "known" && <p className={styles.lead}>{t("figures:work.lead", { time: time(state.work.at) })}</p>}
      </header>
      {state.status === "loading" && <Spinner label={t("figures:reading")} />}
      {state.status === "failed" && (
        <Alert tone="warning" action={again}>
          {t("figures:work.unread")}
        </Alert>
      )}
      {state.status === "known" && <Work work={state.work} />}
    </section>
  );
}
