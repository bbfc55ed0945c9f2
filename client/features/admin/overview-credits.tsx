/** What became of credits, and what people still have of them. */
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { FigureTable } from "#client/components/figure-table.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
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
  const { month } = useUtc();
  const { buckets, kinds, expiries } = figures.credits;
  const series = useMemo(
    () => flows.map(([name, sign]) => ({ key: name, label: t(`credits.${name}`), values: buckets.map((bucket) => sign * bucket[name]) })),
    [buckets, t],
  );
  const sum = (pick: (kind: (typeof kinds)[number]) => number) => kinds.reduce((all, kind) => all + pick(kind), 0);
  const cellsOf = (pick: (name: "issued" | "spent" | "expired" | "clawedBack" | "outstanding") => number) => [
    ...(["issued", "spent", "expired", "clawedBack"] as const).map((name) => number(pick(name))),
    <strong key="outstanding">{number(pick("outstanding"))}</strong>,
  ];
  const all = (pick: (expiry: (typeof expiries)[number]) => number) => number(expiries.reduce((rest, expiry) => rest + pick(expiry), 0));
  return (
    <FigureBlock name="credits" title={t("credits.title")} lead={t("credits.lead")} figures={figures} series={series}>
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
      {expiries.length > 0 && (
        <FigureTable
          isDense
          label={t("credits.expiries")}
          head={t("credits.expiries")}
          columns={[
            { label: t("credits.sold"), colour: 0 },
            { label: t("credits.given"), colour: 1 },
          ]}
          rows={expiries.map((expiry) => ({
            key: expiry.month,
            head: month(expiry.month),
            cells: [number(expiry.sold), number(expiry.given)],
          }))}
          total={{ key: "total", head: t("total"), cells: [all(({ sold }) => sold), all(({ given }) => given)] }}
        />
      )}
    </FigureBlock>
  );
}
