import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Select, TextField } from "#client/components/field.tsx";
import { knownModel } from "#client/lib/known-models.ts";
import { shownModels } from "#client/lib/shown-edition.ts";
import type { LedgerFilter } from "#contract/credits/ledger.ts";
import { catalogue } from "#domain/models.ts";
import styles from "./usage.module.css";
import { directions, lineKinds } from "./use-filter.ts";

interface HistoryFiltersProps {
  filter: LedgerFilter;
  isFiltered: boolean;
  onChange: (next: LedgerFilter) => void;
}

const all = "";

/** Every model that was ever offered, and the one that is chosen, which may be of a later catalogue. */
function modelOptions(chosen: string | undefined): { value: string; label: string }[] {
  const known = [...catalogue, ...shownModels().own].map(({ id, name }) => ({ value: id, label: name }));
  return chosen === undefined || knownModel(chosen) ? known : [...known, { value: chosen, label: chosen }];
}

/** A field without a value is no filter. */
function changed<Key extends keyof LedgerFilter>(filter: LedgerFilter, key: Key, value: string): LedgerFilter {
  const { [key]: _before, ...others } = filter;
  return value === all ? others : { ...others, [key]: value };
}

/** What of the history is shown: fields that take effect at once. */
export function HistoryFilters({ filter, isFiltered, onChange }: HistoryFiltersProps) {
  const { t } = useTranslation("usage");
  const field = (key: "kind" | "direction" | "model" | "from" | "to") => ({
    value: filter[key] ?? all,
    onChange: ({ target }: { target: { value: string } }) => onChange(changed(filter, key, target.value)),
  });
  return (
    <search className={styles.filters} aria-label={t("filters.label")}>
      <Select
        label={t("filters.kind")}
        options={[{ value: all, label: t("filters.everything") }, ...lineKinds.map((kind) => ({ value: kind, label: t(`kinds.${kind}`) }))]}
        {...field("kind")}
      />
      <Select
        label={t("filters.direction")}
        options={[
          { value: all, label: t("filters.both") },
          ...directions.map((direction) => ({ value: direction, label: t(`directions.${direction}`) })),
        ]}
        {...field("direction")}
      />
      <Select
        label={t("filters.model")}
        options={[{ value: all, label: t("filters.allModels") }, ...modelOptions(filter.model)]}
        {...field("model")}
      />
      <TextField type="date" label={t("filters.from")} max={filter.to} {...field("from")} />
      <TextField type="date" label={t("filters.to")} min={filter.from} {...field("to")} />
      {isFiltered && (
        <p className={styles.cleared}>
          {filter.grant !== undefined && <span>{t("filters.grant")}</span>}
          <Button size="small" onClick={() => onChange({})}>
            {t("filters.clear")}
          </Button>
        </p>
      )}
    </search>
  );
}
