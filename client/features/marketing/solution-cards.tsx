import { ArrowRight } from "lucide-react";
import { useTranslation } from "react-i18next";
import { ItemLink, LinkItem } from "#client/components/link-item.tsx";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { offeredModels } from "#client/lib/offered-models.ts";
import type { KnownModel } from "#client/lib/shown-edition.ts";
import { paths } from "#client/paths.ts";
import styles from "./solution-cards.module.css";

/** Spec §2: three solution cards. Their tiles are models of the kind each guide works with. */
const solutions = [
  { key: "contentCreation", path: paths.contentCreation, shows: (model: KnownModel) => model.size === "large" },
  { key: "imageGeneration", path: paths.imageGeneration, shows: (model: KnownModel) => model.category === "image" },
  { key: "gettingStarted", path: paths.gettingStarted, shows: null },
] as const;

const places = [0, 1, 2, 3];

export function SolutionCards() {
  const { t } = useTranslation("home");
  return (
    <section className={styles.section} aria-labelledby="solutions">
      <h2 id="solutions">{t("solutions.title")}</h2>
      <ul className={styles.cards}>
        {solutions.map(({ key, path, shows }) => (
          <LinkItem key={key} className={styles.card}>
            <div className={styles.tiles} aria-hidden="true">
              <Tiles models={shows && offeredModels().filter(shows)} />
            </div>
            <h3 className={styles.title}>
              <ItemLink href={path}>{t(`solutions.${key}.title`)}</ItemLink>
            </h3>
            <p className={styles.text}>{t(`solutions.${key}.text`)}</p>
            <span className={styles.read} aria-hidden="true">
              {t("solutions.read")} <ArrowRight size={16} />
            </span>
          </LinkItem>
        ))}
      </ul>
    </section>
  );
}

/** Four places. Without models the first one is the highlighted tile. */
function Tiles({ models }: { models: readonly KnownModel[] | null }) {
  return places.map((place) => {
    const model = models?.[place];
    if (model) return <ModelPattern key={place} modelId={model.id} category={model.category} className={styles.pattern} />;
    return <span key={place} className={models === null && place === 0 ? styles.bright : styles.open} />;
  });
}
