/** Who joined, and what became of trials. */
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { FigureTable } from "#client/components/figure-table.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { Figures } from "#contract/figures.ts";
import { percentOf } from "#domain/figures.ts";
import { FigureBlock, FigureChart } from "./figure-block.tsx";
import { useStartNames } from "./use-start-names.ts";

const columns = ["joined", "left", "trials", "converted"] as const;

export function PeopleBlock({ figures }: { figures: Figures }) {
  const { t } = useTranslation("figures");
  const { number, percent } = useFormat();
  const { head, nameOf } = useStartNames(figures);
  const { starts, people } = figures;
  const series = useMemo(
    () => [
      { key: "joined", label: t("people.joined"), values: people.joined },
      { key: "left", label: t("people.left"), values: people.left.map((count) => -count) },
    ],
    [people, t],
  );
  const trials = useMemo(
    () => (["trials", "converted"] as const).map((name) => ({ key: name, label: t(`people.${name}`), values: people[name] })),
    [people, t],
  );
  const rows = starts.map((start, index) => ({ start, values: columns.map((name) => people[name][index] ?? 0) }));
  const sums = columns.map((name) => people[name].reduce((sum, count) => sum + count, 0));
  const cellsOf = (values: readonly number[]) => {
    const [, , trials = 0, converted = 0] = values;
    const share = percentOf(converted, trials);
    return [...values.map((value) => (value === 0 ? "–" : number(value))), share === null ? "–" : percent(share)];
  };
  return (
    <FigureBlock
      name="people"
      title={t("people.title")}
      lead={t("people.lead")}
      figures={figures}
      series={series}
      earlier={{ values: figures.before?.joined, of: t("people.joined") }}
    >
      <FigureTable
        isDense
        label={t("people.title")}
        head={head}
        columns={[
          ...columns.map((name, index) => ({ label: t(`people.${name}`), ...(index < 2 && { colour: index }) })),
          { label: t("people.conversion") },
        ]}
        rows={rows
          .filter(({ values }) => values.some((value) => value !== 0))
          .reverse()
          .map(({ start, values }) => ({ key: start, head: nameOf(start), cells: cellsOf(values) }))}
        total={{ key: "total", head: t("total"), cells: cellsOf(sums) }}
      />
      {people.trials.some((count) => count > 0) && (
        <FigureChart title={t("people.trials")} starts={starts} unit={figures.unit} series={trials} />
      )}
    </FigureBlock>
  );
}
