import { useState } from "react";
import { useTranslation } from "react-i18next";
import { classNames } from "#client/components/class-names.ts";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { Segmented } from "#client/components/segmented.tsx";
import { providerName } from "#client/lib/provider-names.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { ModelCategory } from "#domain/models.ts";
import { modelCategories } from "#domain/models.ts";
import { isUnusable } from "./model-choice.ts";
import styles from "./models.module.css";
import type { OfferedModel } from "./models-store.ts";
import { useLimitText } from "./use-limit-text.ts";
import { useOffText } from "./use-off-text.ts";

interface ModelPickerProps {
  models: readonly OfferedModel[];
  /** Null if no model is chosen yet. */
  chosen: string | null;
  /** Missing if the models can only be looked at. */
  onChoose?: (modelId: string) => void;
}

interface TileProps {
  model: OfferedModel;
  chosen: boolean;
  onChoose: ((modelId: string) => void) | undefined;
}

function TileFace({ model }: { model: OfferedModel }) {
  const { t } = useTranslation(["chat", "common"]);
  const { modelPrice } = useFormat();
  const { day } = useUtc();
  const offText = useOffText(model);
  const limit = useLimitText(model);
  return (
    <>
      <ModelPattern modelId={model.id} category={model.category} className={styles.pattern} />
      <span className={styles.names}>
        <span className={styles.name}>{model.name}</span>
        <span className={styles.provider}>
          {model.server ?? providerName(model.provider)} · {t(`common:model.category.${model.category}`)}
        </span>
        {model.goodFor && <span className={styles.goodFor}>{t(`chat:pick.goodFor.${model.goodFor}`)}</span>}
        {limit && <span className={styles.goodFor}>{limit}</span>}
      </span>
      <span className={styles.price}>
        <PriceTiles credits={model.credits} />
        <span>{modelPrice(model)}</span>
      </span>
      {isUnusable(model) ? (
        <span className={styles.reason}>{offText ?? t(model.paused ? "chat:tile.paused" : "chat:tile.unavailable")}</span>
      ) : (
        model.needsPlan && <span className={styles.reason}>{t("chat:tile.notInTrial")}</span>
      )}
      {model.nextPrice && (
        <span className={styles.reason}>
          {t("chat:tile.nextPrice", {
            price: modelPrice({ credits: model.nextPrice.credits, unit: model.unit }),
            date: day(model.nextPrice.beginsOn),
          })}
        </span>
      )}
      {model.until !== null && <span className={styles.reason}>{t("chat:tile.leaves", { date: day(model.until) })}</span>}
    </>
  );
}

function ModelTile({ model, chosen, onChoose }: TileProps) {
  const unavailable = isUnusable(model);
  const look = classNames(styles.tile, chosen && styles.chosen, unavailable && styles.unavailable);
  if (!onChoose) {
    return (
      <div className={look}>
        <TileFace model={model} />
      </div>
    );
  }
  return (
    <button type="button" className={look} aria-pressed={chosen} disabled={unavailable} onClick={() => onChoose(model.id)}>
      <TileFace model={model} />
    </button>
  );
}

/** The catalogue as tiles, by kind. Models that are not available are marked rather than hidden, so that nobody searches for them. */
export function ModelPicker({ models, chosen, onChoose }: ModelPickerProps) {
  const { t } = useTranslation(["chat", "common"]);
  const [filter, setFilter] = useState<ModelCategory | "all">("all");
  const options = (["all", ...modelCategories] as const).map((value) => ({
    value,
    label: value === "all" ? t("chat:filter.all") : t(`common:model.category.${value}`),
  }));
  const [text, setText] = useState("");
  const words = text.toLocaleLowerCase().split(/\s+/);
  /** What a tile says of a model, as it is searched. */
  const saidOf = ({ name, provider, server, category, goodFor }: OfferedModel) =>
    [name, server ?? providerName(provider), t(`common:model.category.${category}`), goodFor ? t(`chat:pick.goodFor.${goodFor}`) : ""]
      .join(" ")
      .toLocaleLowerCase();
  const shown = models
    .filter((model) => filter === "all" || model.category === filter)
    .filter((model) => words.every((word) => saidOf(model).includes(word)));
  return (
    <div className={styles.picker}>
      <Segmented label={t("chat:filter.label")} options={options} value={filter} onChange={setFilter} className={styles.filter ?? ""} />
      <search className={styles.search}>
        <input
          type="search"
          autoComplete="off"
          aria-label={t("chat:filter.search")}
          placeholder={t("chat:filter.search")}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </search>
      <p role="status">{shown.length === 0 && models.length > 0 && t("chat:filter.none")}</p>
      <ul className={styles.grid} aria-label={t("chat:models.label")}>
        {shown.map((model) => (
          <li key={model.id}>
            <ModelTile model={model} chosen={model.id === chosen} onChoose={onChoose} />
          </li>
        ))}
      </ul>
    </div>
  );
}
