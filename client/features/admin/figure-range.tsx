import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { TextField } from "#client/components/field.tsx";
import { Segmented } from "#client/components/segmented.tsx";
import { presetRanges } from "#domain/figures.ts";
import styles from "./overview.module.css";
import type { OwnRange, ShownRange } from "./use-figures.ts";

interface FigureRangeProps {
  range: ShownRange;
  /** The days that are shown now. */
  days: OwnRange | undefined;
  show: (range: ShownRange) => void;
}

/** A choice of preset ranges, and two fields for other days. The days apply once both are filled in and in order. */
export function FigureRange({ range, days, show }: FigureRangeProps) {
  const { t } = useTranslation(["figures", "usage"]);
  const preset = "preset" in range ? range.preset : "own";
  const [own, setOwn] = useState<OwnRange>({ from: "", to: "" });
  const [from, to] = [days?.from ?? "", days?.to ?? ""];
  useEffect(() => setOwn({ from, to }), [from, to]);

  function change(next: OwnRange): void {
    setOwn(next);
    if (next.from !== "" && next.to !== "" && next.from <= next.to) show(next);
  }
  const isBackwards = own.from !== "" && own.to !== "" && own.from > own.to;
  return (
    <div className={styles.range}>
      <Segmented
        label={t("usage:charts.range")}
        options={presetRanges.map((value) => ({ value, label: t(`usage:charts.ranges.${value}`) }))}
        value={preset as (typeof presetRanges)[number]}
        onChange={(chosen) => show({ preset: chosen })}
      />
      <div className={styles.days}>
        <TextField
          type="date"
          label={t("usage:filters.from")}
          value={own.from}
          onChange={(event) => change({ ...own, from: event.target.value })}
        />
        <TextField
          type="date"
          label={t("usage:filters.to")}
          value={own.to}
          error={isBackwards ? t("figures:backwards") : undefined}
          onChange={(event) => change({ ...own, to: event.target.value })}
        />
      </div>
    </div>
  );
}
