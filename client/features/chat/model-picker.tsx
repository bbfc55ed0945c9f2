import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { classNames } from "#client/components/class-names.ts";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { Segmented } from "#client/components/segmented.tsx";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { providerName } from "#client/lib/provider-names.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import { paths } from "#client/paths.ts";
import type { ModelCategory } from "#domain/models.ts";
import { modelCategories } from "#domain/models.ts";
import { isUnusable } from "./model-choice.ts";
import styles from "./models.module.css";
import type { OfferedModel } from "./models-store.ts";
import { useModels } from "./models-store.ts";
import { useLimitTexts } from "./use-limit-texts.ts";
import { useOffText } from "./use-off-text.ts";
import { usePauseEnd } from "./use-pause-end.ts";

interface ModelPickerProps {
  models: readonly OfferedModel[];
  /** Null if no model is chosen yet. */
  chosen: string | null;
  /** Missing if the models can only be looked at. */
  onChoose?: (modelId: string) => void;
  /** The credits that the person has; missing if they are not known. */
  available?: number;
}

interface TileProps {
  model: OfferedModel;
  chosen: boolean;
  onChoose: ((modelId: string) => void) | undefined;
  available: number | undefined;
}

const isTooDear = ({ model, available }: Pick<TileProps, "model" | "available">) => available !== undefined && available < model.credits;

/** Why it can't be asked at the moment, and when it is tried again. */
function Unavailable({ model }: Pick<TileProps, "model">) {
  const { t } = useTranslation("chat");
  const offText = useOffText(model);
  const when = usePauseEnd(model);
  const paused = when === undefined ? t("tile.paused") : t("tile.pausedUntil", { when });
  return <span className={styles.reason}>{offText ?? (model.retryAtMs === null ? t("tile.unavailable") : paused)}</span>;
}

function TileFace({ model, available }: Pick<TileProps, "model" | "available">) {
  const { t } = useTranslation(["chat", "common"]);
  const { modelPrice, credits } = useFormat();
  const { day } = useUtc();
  const limits = useLimitTexts(model);
  return (
    <>
      <ModelPattern modelId={model.id} category={model.category} className={styles.pattern} />
      <span className={styles.names}>
        <span className={styles.name}>{model.name}</span>
        <span className={styles.provider}>
          {model.server ?? providerName(model.provider)} · {t(`common:model.category.${model.category}`)}
        </span>
        {model.goodFor && <span className={styles.goodFor}>{t(`chat:pick.goodFor.${model.goodFor}`)}</span>}
      </span>
      {limits.length > 0 && (
        <span className={styles.limits}>
          {limits.map((limit) => (
            <span key={limit}>{limit}</span>
          ))}
        </span>
      )}
      <span className={styles.price}>
        <PriceTiles credits={model.credits} />
        <span>{modelPrice(model)}</span>
      </span>
      {isUnusable(model) ? (
        <Unavailable model={model} />
      ) : model.needsPlan ? (
        <span className={styles.reason}>{t("chat:tile.notInTrial")}</span>
      ) : (
        isTooDear({ model, available }) && (
          <span className={styles.reason}>{t("chat:tile.tooFew", { credits: credits(available ?? 0) })}</span>
        )
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

/** Links to the plan or the credits that the person lacks. It stands below the tile, because a button can't contain a link. */
function WayToUse({ model, available }: Pick<TileProps, "model" | "available">) {
  const { t } = useTranslation("chat");
  const onTrial = useModels((state) => state.onTrial);
  if (isUnusable(model) || (!model.needsPlan && !isTooDear({ model, available }))) return null;
  // Packs are sold to those who have a plan.
  const needsPlan = model.needsPlan || onTrial;
  return (
    <Link href={needsPlan ? paths.pricing : `${paths.pricing}#packs`} className={styles.way}>
      {t(needsPlan ? "refusal.upgrade" : "noCredits.packs")}
      <VisuallyHidden>: {model.name}</VisuallyHidden>
    </Link>
  );
}

function ModelTile({ model, chosen, onChoose, available }: TileProps) {
  const unavailable = isUnusable(model);
  const look = classNames(styles.tile, chosen && styles.chosen, unavailable && styles.unavailable);
  if (!onChoose) {
    return (
      <div className={look}>
        <TileFace model={model} available={available} />
      </div>
    );
  }
  return (
    <button type="button" className={look} aria-pressed={chosen} disabled={unavailable} onClick={() => onChoose(model.id)}>
      <TileFace model={model} available={available} />
    </button>
  );
}

/** The catalogue as tiles, by kind. Models that are not available are marked rather than hidden, so that nobody searches for them. */
export function ModelPicker({ models, chosen, onChoose, available }: ModelPickerProps) {
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
            <ModelTile {...{ model, onChoose, available }} chosen={model.id === chosen} />
            {onChoose && <WayToUse {...{ model, available }} />}
          </li>
        ))}
      </ul>
    </div>
  );
}
