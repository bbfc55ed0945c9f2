import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { fieldSize, rowsOfTiles } from "#client/components/tile-field.ts";
import { firstModel } from "#client/lib/offered-models.ts";
import type { KnownModel } from "#client/lib/shown-edition.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { planList } from "#domain/plans.ts";
import styles from "./plan-finder.module.css";

/** The kinds of work that people can count, each with a model of that kind and the slider's step, maximum and first value. */
const countable = [
  { key: "small", model: { size: "small" }, step: 10, most: 600, atFirst: 100 },
  { key: "large", model: { size: "large" }, step: 5, most: 200, atFirst: 20 },
  { key: "image", model: { category: "image" }, step: 1, most: 80, atFirst: 5 },
  { key: "video", model: { category: "video" }, step: 1, most: 20, atFirst: 0 },
] as const;

type Kind = (typeof countable)[number]["key"];
type Wishes = Partial<Record<Kind, number>>;

/** A kind whose models are all switched off is left out. */
function offeredKinds() {
  return countable.flatMap((kind) => {
    const model = firstModel(kind.model);
    return model ? [{ ...kind, model }] : [];
  });
}

const atFirst: Wishes = Object.fromEntries(countable.map((kind) => [kind.key, kind.atFirst]));
const creditsPerTile = 25;
const columns = 10;
const largest = Math.max(...planList.map(({ monthlyCredits }) => monthlyCredits));

function creditsFor(kinds: ReturnType<typeof offeredKinds>, wishes: Wishes): number {
  return kinds.reduce((sum, { key, model }) => sum + (wishes[key] ?? 0) * model.credits, 0);
}

/** Finds the smallest plan that covers a month's work at the catalogue's prices. */
export function PlanFinder() {
  const { t } = useTranslation("pricing");
  const [wishes, setWishes] = useState(atFirst);
  const kinds = offeredKinds();
  return (
    <div className={styles.finder}>
      <div className={styles.sliders}>
        {kinds.map(({ key, model, step, most }) => (
          <Slider
            key={key}
            label={t(`finder.${key}`)}
            model={model}
            step={step}
            most={most}
            value={wishes[key] ?? 0}
            onChange={(value) => setWishes({ ...wishes, [key]: value })}
          />
        ))}
      </div>
      <Sum needed={creditsFor(kinds, wishes)} />
    </div>
  );
}

interface SliderProps {
  label: string;
  model: KnownModel;
  step: number;
  most: number;
  value: number;
  onChange: (value: number) => void;
}

function Slider({ label, model, step, most, value, onChange }: SliderProps) {
  const format = useFormat();
  const id = useId();
  return (
    <div className={styles.slider}>
      <label htmlFor={id} className={styles.label}>
        {label}
        <span className={styles.price}>{format.modelPrice(model)}</span>
      </label>
      <output htmlFor={id} className={styles.value}>
        {format.number(value)}
      </output>
      <input
        id={id}
        className={styles.range}
        type="range"
        min="0"
        max={most}
        step={step}
        value={value}
        onChange={(event) => onChange(Number(event.target.value))}
      />
    </div>
  );
}

function Sum({ needed }: { needed: number }) {
  const { t } = useTranslation(["pricing", "plans"]);
  const format = useFormat();
  const plan = planList.find(({ monthlyCredits }) => monthlyCredits >= needed);
  const dearest = planList.at(-1);
  const field = fieldSize(largest / creditsPerTile, columns);
  const granted = plan?.monthlyCredits ?? largest;
  const used = Math.min(Math.ceil(needed / creditsPerTile), granted / creditsPerTile);
  function verdict(): string {
    if (!plan) return t("finder.over", { plan: dearest?.name, credits: format.credits(largest) });
    const left = plan.monthlyCredits - needed;
    return left === 0 ? t("finder.exact", { plan: plan.name }) : t("finder.fits", { plan: plan.name, left: format.credits(left) });
  }
  return (
    <div className={styles.sum}>
      <svg className={styles.field} viewBox={`0 0 ${field.width} ${field.height}`} aria-hidden="true">
        <path className={styles.open} d={rowsOfTiles(granted / creditsPerTile, columns)} />
        <path className={styles.used} d={rowsOfTiles(used, columns)} />
      </svg>
      <p className={styles.scale}>{t("plans:plan.tileScale", { credits: format.credits(creditsPerTile) })}</p>
      <div role="status">
        <p className={styles.total}>{t("finder.total", { credits: format.credits(needed) })}</p>
        <p>{verdict()}</p>
      </div>
    </div>
  );
}
