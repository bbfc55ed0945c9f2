import { useState } from "react";
import { useTranslation } from "react-i18next";
import { classNames } from "#client/components/class-names.ts";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { Segmented } from "#client/components/segmented.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { useLater } from "#client/lib/use-later.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import { clipSeconds, clipShapes } from "#domain/clips.ts";
import type { ModelCategory } from "#domain/models.ts";
import { modelCategories } from "#domain/models.ts";
import { pictureLimits, pictureSizes } from "#domain/pictures.ts";
import { isUnusable } from "./model-choice.ts";
import styles from "./models.module.css";
import type { OfferedModel } from "./models-store.ts";

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

const providerNames: Readonly<Record<OfferedModel["provider"], string>> = {
  openai: "OpenAI",
  anthropic: "Anthropic",
  google: "Google",
  mistral: "Mistral",
  deepseek: "DeepSeek",
  perplexity: "Perplexity",
  xai: "xAI",
};

function TileFace({ model }: { model: OfferedModel }) {
  const { t } = useTranslation(["chat", "common"]);
  const { modelPrice, number, seconds } = useFormat();
  const { later } = useLater();
  const { day } = useUtc();
  const reasonOf = ({ built, paused }: OfferedModel) => (built ? t(paused ? "chat:tile.paused" : "chat:tile.unavailable") : later);
  return (
    <>
      <ModelPattern modelId={model.id} category={model.category} className={styles.pattern} />
      <span className={styles.names}>
        <span className={styles.name}>{model.name}</span>
        <span className={styles.provider}>
          {providerNames[model.provider]} · {t(`common:model.category.${model.category}`)}
        </span>
        <span className={styles.goodFor}>{t(`chat:pick.goodFor.${model.goodFor}`)}</span>
        {model.unit === "image" && model.built && (
          <span className={styles.goodFor}>
            {t("chat:tile.pictures", { number: number(pictureLimits.count), sizes: number(pictureSizes.length) })}
          </span>
        )}
        {model.unit === "clip" && model.built && (
          <span className={styles.goodFor}>
            {t("chat:tile.clips", { length: seconds(Math.max(...clipSeconds)), shapes: number(clipShapes.length) })}
          </span>
        )}
      </span>
      <span className={styles.price}>
        <PriceTiles credits={model.credits} />
        <span>{modelPrice(model)}</span>
      </span>
      {isUnusable(model) ? (
        <span className={styles.reason}>{reasonOf(model)}</span>
      ) : (
        model.needsPlan && <span className={styles.reason}>{t("chat:tile.notInTrial")}</span>
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
  const shown = models.filter((model) => filter === "all" || model.category === filter);
  return (
    <div className={styles.picker}>
      <Segmented label={t("chat:filter.label")} options={options} value={filter} onChange={setFilter} className={styles.filter ?? ""} />
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
