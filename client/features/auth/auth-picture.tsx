import { useTranslation } from "react-i18next";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { models } from "#domain/models.ts";
import styles from "./auth.module.css";

/** What the token lets one in to: every model's tile, laid to one picture, with the last place still open. */
export function AuthPicture() {
  const { t } = useTranslation("auth");
  return (
    <aside className={styles.picture}>
      <div className={styles.mosaic} aria-hidden="true">
        {models.map((model) => (
          <ModelPattern key={model.id} modelId={model.id} category={model.category} className={styles.tile} />
        ))}
        <span className={styles.open} />
      </div>
      <p className={styles.caption}>{t("picture", { count: models.length })}</p>
    </aside>
  );
}
