/** Recurring revenue, and the subscriptions that bring it. */
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { FigureTable } from "#client/components/figure-table.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { Figures } from "#contract/figures.ts";
import { movements } from "#domain/figures.ts";
import { planKeys, plans } from "#domain/plans.ts";
import { FigureBlock } from "./figure-block.tsx";
import { useStartNames } from "./use-start-names.ts";

export function RevenueBlock({ figures }: { figures: Figures }) {
  const { t } = useTranslation("figures");
  const { money } = useFormat();
  const { head, nameOf } = useStartNames(figures);
  const { starts, revenue } = figures;
  const label = t("revenue.mrr");
  const series = useMemo(() => [{ key: "mrr", label, values: revenue.buckets.map(({ end }) => end) }], [revenue, label]);
  const cellsOf = (sums: Figures["revenue"]["total"]) => [
    ...movements.map((name) => (sums[name] === 0 ? "–" : money(name === "contraction" || name === "churn" ? -sums[name] : sums[name]))),
    <strong key="end">{money(sums.end)}</strong>,
  ];
  const rows = starts
    .map((start, index) => ({ start, sums: revenue.buckets[index] }))
    .filter(({ sums }) => sums && movements.some((name) => sums[name] !== 0));
  return (
    <FigureBlock
      name="revenue"
      title={t("revenue.title")}
      lead={t("revenue.lead")}
      figures={figures}
      series={series}
      earlier={{ values: figures.before?.mrrCents }}
      as="line"
      format={money}
    >
      <FigureTable
        isDense
        label={t("revenue.title")}
        head={head}
        columns={[...movements.map((name) => ({ label: t(`revenue.${name}`) })), { label: t("revenue.end"), colour: 0 }]}
        rows={[
          ...rows.reverse().map(({ start, sums }) => ({ key: start, head: nameOf(start), cells: sums ? cellsOf(sums) : [] })),
          { key: "start", head: t("revenue.start"), cells: [...movements.map(() => ""), money(revenue.total.start)] },
        ]}
        total={{ key: "total", head: t("total"), cells: cellsOf(revenue.total) }}
      />
    </FigureBlock>
  );
}

export function SubscriptionsBlock({ figures }: { figures: Figures }) {
  const { t } = useTranslation("figures");
  const { money, number } = useFormat();
  const { starts, subscriptions } = figures;
  const series = useMemo(
    () =>
      planKeys.map((key) => {
        const own = subscriptions.plans.filter(({ planKey }) => planKey === key);
        const values = starts.map((_, place) => own.reduce((sum, { running }) => sum + (running[place] ?? 0), 0));
        return { key, label: plans[key].name, values };
      }),
    [starts, subscriptions],
  );
  const last = (running: readonly number[]) => running.at(-1) ?? 0;
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
  const colourOf = (planKey: string) => {
    const place = (planKeys as readonly string[]).indexOf(planKey);
    return place < 0 ? undefined : place;
  };
  const nameOf = (planKey: string) => planKeys.find((key) => key === planKey);
  const order = (planKey: string) => colourOf(planKey) ?? planKeys.length;
  const rows = subscriptions.plans.toSorted(
    (one, other) => order(one.planKey) - order(other.planKey) || one.interval.localeCompare(other.interval),
  );
  return (
    <FigureBlock
      name="subscriptions"
      title={t("subscriptions.title")}
      lead={t("subscriptions.lead")}
      figures={figures}
      series={series}
      earlier={{ values: figures.before?.running }}
    >
      <FigureTable
        isDense
        label={t("subscriptions.title")}
        head={t("subscriptions.plan")}
        columns={[{ label: t("subscriptions.before") }, { label: t("subscriptions.after") }, { label: t("revenue.mrr") }]}
        rows={rows.map(({ planKey, interval, runningBefore, running, mrrCents }) => {
          const known = nameOf(planKey);
          return {
            key: `${planKey} ${interval}`,
            head: t(`subscriptions.${interval}`, { plan: known ? plans[known].name : planKey }),
            colour: colourOf(planKey),
            cells: [number(runningBefore), <strong key="after">{number(last(running))}</strong>, money(mrrCents)],
          };
        })}
        total={{
          key: "total",
          head: t("total"),
          cells: [
            number(sum(rows.map(({ runningBefore }) => runningBefore))),
            <strong key="after">{number(sum(rows.map(({ running }) => last(running))))}</strong>,
            money(figures.revenue.total.end),
          ],
        }}
      />
    </FigureBlock>
  );
}
