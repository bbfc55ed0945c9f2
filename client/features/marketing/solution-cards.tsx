import { ArrowRight } from "lucide-react";
import { useTranslation } from "react-i18next";
import { ItemLink, LinkItem } from "#client/components/link-item.tsx";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { paths } from "#client/paths.ts";
import { findModel } from "#domain/models.ts";
import styles from "./solution-cards.module.css";

/** Spec §2: three solution cards. Their tiles are the models each guide works with. */
const solutions = [
  { key: "contentCreation", path: paths.contentCreation, tiles: ["gpt-5", "claude-sonnet-4-5", "gemini-2.5-pro", "mistral-large-latest"] },
  { key: "imageGeneration", path: paths.imageGeneration, tiles: ["dall-e-3", "gpt-image-1", null, null] },
  { key: "gettingStarted", path: paths.gettingStarted, tiles: ["start", null, null, null] },
] as const;

export function SolutionCards() {
  const { t } = useTranslation("home");
  return (
    <section className={styles.section} aria-labelledby="solutions">
      <h2 id="solutions">{t("solutions.title")}</h2>
      <ul className={styles.cards}>
        {solutions.map(({ key, path, tiles }) => (
          <LinkItem key={key} className={styles.card}>
            <div className={styles.tiles} aria-hidden="true">
              {tiles.map((id, place) => (
                <Tile key={`${key}-${id ?? place}`} id={id} />
              ))}
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

function Tile({ id }: { id: string | null }) {
  if (id === "start") return <span className={styles.bright} />;
  const model = id === null ? undefined : findModel(id);
  if (!model) return <span className={styles.open} />;
  return <ModelPattern modelId={model.id} category={model.category} className={styles.pattern} />;
}
