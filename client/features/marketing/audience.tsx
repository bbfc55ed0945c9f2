import { useTranslation } from "react-i18next";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { firstModel } from "#client/lib/offered-models.ts";
import styles from "./audience.module.css";

/** Spec §1, "Audience", each with the tiles of the models they use. */
const audience = [
  { key: "individuals", models: [{ size: "small" }, { category: "image" }] },
  { key: "developers", models: [{ size: "large" }, { size: "small" }, { category: "search" }] },
  { key: "businesses", models: [{ size: "small" }, { unit: "minute" }, { unit: "thousand_characters" }, { category: "search" }] },
] as const;

export function Audience() {
  const { t } = useTranslation("about");
  return (
    <ul className={styles.people}>
      {audience.map(({ key, models }) => (
        <li key={key} className={styles.person}>
          <div className={styles.tiles} aria-hidden="true">
            {models.map(firstModel).map((model) => {
              return model && <ModelPattern key={model.id} modelId={model.id} category={model.category} className={styles.tile} />;
            })}
          </div>
          <h3 className={styles.title}>{t(`audience.${key}.title`)}</h3>
          <p className={styles.text}>{t(`audience.${key}.text`)}</p>
        </li>
      ))}
    </ul>
  );
}
