import { useTranslation } from "react-i18next";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { offeredModels } from "#client/lib/offered-models.ts";
import styles from "./auth.module.css";

/** The tiles of all models as one picture, with the last place still empty. */
export function AuthPicture() {
  const { t } = useTranslation("auth");
  return (
    <aside className={styles.picture}>
      <div className={styles.mosaic} aria-hidden="true">
        {offeredModels().map((model) => (
          <ModelPattern key={model.id} modelId={model.id} category={model.category} className={styles.tile} />
        ))}
        <span className={styles.open} />
      </div>
      <p className={styles.caption}>{t("picture", { count: offeredModels().length })}</p>
    </aside>
  );
}
