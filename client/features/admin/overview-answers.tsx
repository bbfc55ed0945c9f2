/** Answers by model: how they ended, what they brought and what the providers take. */
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { FigureTable } from "#client/components/figure-table.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { Figures } from "#contract/figures.ts";
import { creditMicroDollars, marginMicroDollars, microDollarsPerCent, percentOf } from "#domain/figures.ts";
import { FigureBlock, FigureChart } from "./figure-block.tsx";
import { formatHeadline } from "./headline-format.ts";
import { formatMicroDollars } from "./micro-dollars.ts";

const ends = ["completed", "stopped", "failed"] as const;
type Sums = Omit<Figures["answers"]["models"][number], "modelId" | "name">;

export function AnswersBlock({ figures }: { figures: Figures }) {
  const { t, i18n } = useTranslation("figures");
  const { money, number, percent } = useFormat();
  const { models, buckets, firstText: firstTextOfAll } = figures.answers;
  const secondsOf = (milliseconds: number | undefined) => formatHeadline("milliseconds", milliseconds ?? null, i18n.language);
  const series = useMemo(
    () => ends.map((name) => ({ key: name, label: t(`answers.${name}`), values: buckets.map((bucket) => bucket[name]) })),
    [buckets, t],
  );
  const margins = useMemo(() => {
    const values = buckets.map((bucket) =>
      Math.round(marginMicroDollars(bucket.soldCredits, bucket.costMicroDollars) / microDollarsPerCent),
    );
    return [{ key: "margin", label: t("answers.margin"), values }];
  }, [buckets, t]);
  const uncosted = models.reduce((sum, model) => sum + model.uncosted, 0);
  const cellsOf = ({ completed, stopped, failed, credits, soldCredits, costMicroDollars, firstText }: Sums) => {
    const answers = completed + stopped + failed;
    const failures = percentOf(failed, answers);
    return [
      number(answers),
      failures === null ? "–" : percent(failures),
      secondsOf(firstText?.medianMs),
      secondsOf(firstText?.p95Ms),
      number(credits),
      money(Math.round(costMicroDollars / microDollarsPerCent)),
      <strong key="margin">{money(Math.round(marginMicroDollars(soldCredits, costMicroDollars) / microDollarsPerCent))}</strong>,
    ];
  };
  const names = ["completed", "stopped", "failed", "credits", "soldCredits", "costMicroDollars", "uncosted"] as const;
  const totals = Object.fromEntries(names.map((name) => [name, models.reduce((sum, model) => sum + model[name], 0)]));
  const sums = { ...totals, firstText: firstTextOfAll } as unknown as Sums;
  const lead = t("answers.lead", { price: formatMicroDollars(creditMicroDollars, i18n.language) });
  return (
    <FigureBlock
      name="answers"
      title={t("answers.title")}
      lead={lead}
      figures={figures}
      series={series}
      earlier={{ values: figures.before?.answers }}
    >
      <FigureTable
        isDense
        label={t("answers.title")}
        head={t("answers.model")}
        columns={(["answers", "failures", "firstText", "firstTextSlow", "credits", "cost", "margin"] as const).map((name) => ({
          label: t(`answers.${name}`),
        }))}
        rows={models.map(({ modelId, name, ...own }) => ({ key: modelId, head: name, cells: cellsOf(own) }))}
        total={{ key: "total", head: t("total"), cells: cellsOf(sums) }}
      />
      {margins.some(({ values }) => values.some((value) => value !== 0)) && (
        <FigureChart title={t("answers.margin")} starts={figures.starts} unit={figures.unit} series={margins} format={money} />
      )}
      {firstTextOfAll !== null && <p>{t("answers.times")}</p>}
      {uncosted > 0 && <p>{t("answers.uncosted", { formatted: number(uncosted) })}</p>}
    </FigureBlock>
  );
}
