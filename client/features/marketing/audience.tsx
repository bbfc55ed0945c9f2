import { useTranslation } from "react-i18next";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { findModel } from "#domain/models.ts";
import styles from "./audience.module.css";

/** Spec §1, "Audience", each with the tiles of the models they use. */
const audience = [
  { key: "individuals", models: ["gpt-5-mini", "dall-e-3"] },
  { key: "developers", models: ["gpt-5", "claude-sonnet-4-5", "gemini-2.5-pro"] },
  { key: "businesses", models: ["claude-haiku-4-5", "gpt-image-1", "sonar", "whisper-1"] },
] as const;

export function Audience() {
  const { t } = useTranslation("about");
  return (
    <ul className={styles.people}>
      {audience.map(({ key, models }) => (
        <li key={key} className={styles.person}>
          <div className={styles.tiles} aria-hidden="true">
            {models.map((id) => {
              const model = findModel(id);
              return model && <ModelPattern key={id} modelId={id} category={model.category} className={styles.tile} />;
            })}
          </div>
          <h3 className={styles.title}>{t(`audience.${key}.title`)}</h3>
          <p className={styles.text}>{t(`audience.${key}.text`)}</p>
        </li>
      ))}
    </ul>
  );
}
