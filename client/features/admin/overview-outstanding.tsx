/** What people still have of their credits, which is what the business owes, and when it expires. */
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { FigureTable } from "#client/components/figure-table.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { Figures } from "#contract/figures.ts";
import { FigureBlock, FigureChart } from "./figure-block.tsx";

/** What expires in each month. */
function Expiries({ rows }: { rows: Figures["credits"]["expiries"] }) {
  const { t } = useTranslation("figures");
  const { number } = useFormat();
  const { month } = useUtc();
  const sum = (name: "sold" | "given") => rows.reduce((all, row) => all + row[name], 0);
  const cellsOf = (sold: number, given: number) => [number(sold), number(given), <strong key="total">{number(sold + given)}</strong>];
  return (
    <FigureTable
      isDense
      label={t("credits.expiries")}
      head={t("credits.expiries")}
      columns={[{ label: t("credits.sold"), colour: 0 }, { label: t("credits.given"), colour: 1 }, { label: t("total") }]}
      rows={rows.map(({ month: start, sold, given }) => ({ key: start, head: month(start), cells: cellsOf(sold, given) }))}
      total={{ key: "total", head: t("total"), cells: cellsOf(sum("sold"), sum("given")) }}
    />
  );
}

export function OutstandingBlock({ figures }: { figures: Figures }) {
  const { t } = useTranslation("figures");
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
      {expiries.length > 0 && (
        <>
          <FigureChart title={t("credits.expiries")} starts={ends.starts} unit="month" series={ends.series} hasTotal hasTable />
          <Expiries rows={expiries} />
        </>
      )}
    </FigureBlock>
  );
}
