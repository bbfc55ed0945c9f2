import { useTranslation } from "react-i18next";
import { FigureTable } from "#client/components/figure-table.tsx";
import type { Figures } from "#contract/figures.ts";
import { headlineFigures } from "#domain/headline-figures.ts";
import styles from "./change.module.css";
import { Change } from "./change.tsx";
import { formatHeadline } from "./headline-format.ts";

interface ComparedTableProps {
  /** What the names of its figures begin with. */
  block: string;
  title: string;
  figures: Pick<Figures, "headlines" | "before">;
}

/** The headline figures of a part of the overview beside those of the range before. */
export function ComparedTable({ block, title, figures: { headlines, before } }: ComparedTableProps) {
  const { t, i18n } = useTranslation("figures");
  const own = headlines.filter(({ name }) => name.startsWith(`${block}.`));
  const columns = [{ label: t("compare.now") }, { label: t("compare.before") }, { label: t("compare.change") }];
  return (
    <div className={styles.compared}>
      <FigureTable
        isDense
        label={t("compare.table", { title })}
        head={t("compare.figure")}
        columns={before ? columns : columns.slice(0, 1)}
        rows={own.map((figure) => {
          const { name, value } = figure;
          const text = (known: number | null) => formatHeadline(headlineFigures[name].unit, known, i18n.language);
          return {
            key: name,
            head: t(name),
            cells: [<strong key="now">{text(value)}</strong>, text(figure.before), <Change key="change" figure={figure} />],
          };
        })}
      />
    </div>
  );
}
