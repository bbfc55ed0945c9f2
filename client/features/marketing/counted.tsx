import { useTranslation } from "react-i18next";
import styles from "./counted.module.css";

const charged = ["complete", "stopped"] as const;
const free = ["failed", "early", "refused", "reading"] as const;

/** Shows what costs credits and what doesn't: filled tiles, and outlines. */
export function Counted() {
  const { t } = useTranslation("about");
  return (
    <div className={styles.columns}>
      <div>
        <h3 className={styles.title}>{t("counted.yes")}</h3>
        <ul className={styles.laid}>
          {charged.map((key) => (
            <li key={key}>{t(`counted.charged.${key}`)}</li>
          ))}
        </ul>
      </div>
      <div>
        <h3 className={styles.title}>{t("counted.no")}</h3>
        <ul className={styles.open}>
          {free.map((key) => (
            <li key={key}>{t(`counted.free.${key}`)}</li>
          ))}
        </ul>
      </div>
    </div>
  );
}
