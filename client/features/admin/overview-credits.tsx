/** What became of credits. */
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { FigureTable } from "#client/components/figure-table.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { Figures } from "#contract/figures.ts";
import { FigureBlock } from "./figure-block.tsx";

/** Credits that come in are drawn above zero, those that go below it. */
const flows = [
  ["sold", 1],
  ["given", 1],
  ["spent", -1],
  ["expired", -1],
  ["clawedBack", -1],
] as const;

export function CreditsBlock({ figures }: { figures: Figures }) {
  const { t } = useTranslation(["figures", "wallet"]);
  const { number } = useFormat();
  const {
    before,
    credits: { buckets, kinds },
  } = figures;
  const series = useMemo(
    () => flows.map(([name, sign]) => ({ key: name, label: t(`credits.${name}`), values: buckets.map((bucket) => sign * bucket[name]) })),
    [buckets, t],
  );
  const spentBefore = useMemo(() => before?.spentCredits.map((credits) => 0 - credits), [before]);
  const sum = (pick: (kind: (typeof kinds)[number]) => number) => kinds.reduce((all, kind) => all + pick(kind), 0);
  const cellsOf = (pick: (name: "issued" | "spent" | "expired" | "clawedBack" | "outstanding") => number) => [
    ...(["issued", "spent", "expired", "clawedBack"] as const).map((name) => number(pick(name))),
    <strong key="outstanding">{number(pick("outstanding"))}</strong>,
  ];
  return (
    <FigureBlock
      name="credits"
      title={t("credits.title")}
      lead={t("credits.lead")}
      figures={figures}
      series={series}
      earlier={{ values: spentBefore, of: t("credits.spent") }}
    >
      <FigureTable
        isDense
        label={t("credits.title")}
        head={t("credits.kind")}
        columns={[
          { label: t("credits.issued") },
          { label: t("credits.spent"), colour: 2 },
          { label: t("credits.expired"), colour: 3 },
          { label: t("credits.clawedBack"), colour: 4 },
          { label: t("credits.outstanding") },
        ]}
        rows={kinds.map((kind) => ({
          key: kind.kind,
          head: t(`wallet:kind.${kind.kind}`),
          colour: kind.kind === "plan" || kind.kind === "pack" ? 0 : 1,
          cells: cellsOf((name) => kind[name]),
        }))}
        total={{ key: "total", head: t("total"), cells: cellsOf((name) => sum((kind) => kind[name])) }}
      />
    </FigureBlock>
  );
}
