import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import { packs } from "#domain/plans.ts";
import styles from "./pack-list.module.css";

export function PackList() {
  const { t } = useTranslation("pricing");
  const format = useFormat();
  return (
    <ul className={styles.packs}>
      {packs.map((pack) => (
        <li key={pack.key} className={styles.pack}>
          <span className={styles.credits}>
            {format.credits(pack.credits)}
            <span className={styles.each}>{t("packs.each", { price: format.money(pack.priceCents / pack.credits) })}</span>
          </span>
          <span>{format.money(pack.priceCents)}</span>
        </li>
      ))}
    </ul>
  );
}
