/** What people still have of their credits, which is what the business owes, and when it expires. */
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { FigureTable } from "#client/components/figure-table.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { Figures } from "#contract/figures.ts";
import { FigureBlock, FigureChart } from "./figure-block.tsx";
import { useStartNames } from "./use-start-names.ts";

type Row = { start: string; sold: number; given: number };

/** One table of credits that were sold and that were given, by day or month. */
function Credits({
  label,
  head,
  rows,
  nameOf,
  total,
}: {
  label: string;
  head: string;
  rows: readonly Row[];
  nameOf: (start: string) => string;
  total: boolean;
}) {
  const { t } = useTranslation("figures");
  const { number } = useFormat();
  const sum = (name: "sold" | "given") => number(rows.reduce((all, row) => all + row[name], 0));
  return (
    <FigureTable
      isDense
      label={label}
      head={head}
      columns={[
        { label: t("credits.sold"), colour: 0 },
        { label: t("credits.given"), colour: 1 },
      ]}
      rows={rows.map(({ start, sold, given }) => ({ key: start, head: nameOf(start), cells: [number(sold), number(given)] }))}
      {...(total && { total: { key: "total", head: t("total"), cells: [sum("sold"), sum("given")] } })}
    />
  );
}

export function OutstandingBlock({ figures }: { figures: Figures }) {
  const { t } = useTranslation("figures");
  const { month } = useUtc();
  const { head, nameOf } = useStartNames(figures);
  const { starts } = figures;
  const { buckets, expiries } = figures.credits;
  const outstanding = useMemo(
    () => [
      { key: "sold", label: t("credits.sold"), values: buckets.map((bucket) => bucket.outstandingSold) },
      { key: "given", label: t("credits.given"), values: buckets.map((bucket) => bucket.outstandingGiven) },
    ],
    [buckets, t],
  );
  const ends = useMemo(
    () => ({
      starts: expiries.map((expiry) => expiry.month),
      series: (["sold", "given"] as const).map((name) => ({
        key: name,
        label: t(`credits.${name}`),
        values: expiries.map((expiry) => expiry[name]),
      })),
    }),
    [expiries, t],
  );
  const rows = starts.map((start, index) => ({
    start,
    sold: buckets[index]?.outstandingSold ?? 0,
    given: buckets[index]?.outstandingGiven ?? 0,
  }));
  const title = t("headlines.outstanding");
  return (
    <FigureBlock
      name="outstanding"
      title={title}
      lead={t("credits.owed")}
      figures={figures}
      series={outstanding}
      earlier={{ values: figures.before?.outstandingCredits }}
    >
      <Credits label={title} head={head} rows={rows.toReversed()} nameOf={nameOf} total={false} />
      {expiries.length > 0 && (
        <>
          <FigureChart title={t("credits.expiries")} starts={ends.starts} unit="month" series={ends.series} />
          <Credits
            label={t("credits.expiries")}
            head={t("credits.expiries")}
            rows={expiries.map(({ month: start, sold, given }) => ({ start, sold, given }))}
            nameOf={month}
            total
          />
        </>
      )}
    </FigureBlock>
  );
}
