/** The business at a glance: figures of any range of days in UTC, each as a chart and as a table, and what waits now. */
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { apiResponse } from "#client/lib/api.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { Figures } from "#contract/figures.ts";
import type { HeadlineName } from "#domain/headline-figures.ts";
import { headlineFigures } from "#domain/headline-figures.ts";
import { AdminHead } from "./admin-frame.tsx";
import { Change } from "./change.tsx";
import { FigureRange } from "./figure-range.tsx";
import { formatHeadline } from "./headline-format.ts";
import styles from "./overview.module.css";
import { AnswersBlock } from "./overview-answers.tsx";
import { CreditsBlock } from "./overview-credits.tsx";
import { RevenueBlock, SubscriptionsBlock } from "./overview-money.tsx";
import { OutstandingBlock } from "./overview-outstanding.tsx";
import { PeopleBlock } from "./overview-people.tsx";
import { WorkBlock } from "./overview-work.tsx";
import { sectionPath } from "./sections.ts";
import { useCsv } from "./use-csv.tsx";
import { useFigures } from "./use-figures.ts";
import { useWaiting } from "./use-waiting.ts";

/** The first that one wants to know; the parts below have all of them. */
const shown: readonly HeadlineName[] = [
  "revenue.mrr",
  "subscriptions.running",
  "people.people",
  "credits.outstanding",
  "answers.answers",
  "answers.margin",
];

/** Names that say less without the title of their part. */
const longer: Partial<Record<HeadlineName, "headlines.outstanding" | "headlines.margin">> = {
  "credits.outstanding": "headlines.outstanding",
  "answers.margin": "headlines.margin",
};

function Headlines({ figures: { headlines, before } }: { figures: Figures }) {
  const { t, i18n } = useTranslation("figures");
  return (
    <dl className={styles.headlines}>
      {headlines
        .filter(({ name }) => shown.includes(name))
        .map((figure) => {
          const text = (value: number | null) => formatHeadline(headlineFigures[figure.name].unit, value, i18n.language);
          return (
            <div key={figure.name} className={styles.headline}>
              <dt>{t(longer[figure.name] ?? figure.name)}</dt>
              <dd>
                <strong>{text(figure.value)}</strong>
                {before && <Change figure={figure} />}
                <span className={styles.was}>{before ? t("compare.was", { formatted: text(figure.before) }) : t("compare.none")}</span>
              </dd>
            </div>
          );
        })}
    </dl>
  );
}

/** With which days the figures are compared. */
function useCompared(figures: Figures | undefined): string {
  const { t } = useTranslation("figures");
  const { date } = useUtc();
  if (!figures?.before) return "";
  const { from, to, countedFrom } = figures.before;
  const compared = t("compare.range", { from: date(from), to: date(to) });
  return countedFrom === null ? compared : `${compared} ${t("compare.partly", { date: date(countedFrom) })}`;
}

export function OverviewSection() {
  const { t } = useTranslation(["figures", "admin", "common"]);
  const { date, time } = useUtc();
  const { state, range, show, read } = useFigures();
  const waiting = useWaiting();
  const toNeeds = (
    <LinkButton size="small" href={sectionPath("needs")}>
      {t("admin:needs.look")}
    </LinkButton>
  );
  const known = state.status === "known" ? state.figures : undefined;
  const compared = useCompared(known);
  const querystring = "preset" in range ? { range: range.preset } : range;
  const csv = useCsv(() => apiResponse("GET /api/admin/figures.csv", { querystring }));
  const until = known?.completeUntil;
  const counted = until ? t("figures:counted", { date: date(until), time: time(until) }) : t("figures:uncounted");
  const again = (
    <Button size="small" onClick={read}>
      {t("common:retry")}
    </Button>
  );
  return (
    <>
      <AdminHead title={t("admin:sections.overview")} lead={known ? `${t("figures:lead")} ${counted} ${compared}` : t("figures:lead")}>
        {csv.button}
      </AdminHead>
      {csv.note}
      {waiting && (
        <p className={styles.waits}>
          {waiting.words} {toNeeds}
        </p>
      )}
      <FigureRange range={range} days={known && { from: known.from, to: known.to }} show={show} />
      {state.status === "loading" && <Spinner label={t("figures:reading")} />}
      {state.status === "failed" && (
        <Alert tone="warning" action={again}>
          {t("figures:unread")}
        </Alert>
      )}
      {known && (
        <div className={styles.blocks} aria-busy={state.status === "known" && state.isLoading}>
          <Headlines figures={known} />
          <RevenueBlock figures={known} />
          <SubscriptionsBlock figures={known} />
          <PeopleBlock figures={known} />
          <CreditsBlock figures={known} />
          <OutstandingBlock figures={known} />
          <AnswersBlock figures={known} />
        </div>
      )}
      <WorkBlock />
    </>
  );
}
