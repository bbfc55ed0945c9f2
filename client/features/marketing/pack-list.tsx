import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { PackKey } from "#domain/plans.ts";
import { currency, packs } from "#domain/plans.ts";
import styles from "./pack-list.module.css";

interface PackListProps {
  /** Absent for those who can't buy a pack. */
  onBuy: ((pack: PackKey) => void) | undefined;
  /** The price or pack whose checkout is being created. */
  processing: string | null;
}

export function PackList({ onBuy, processing }: PackListProps) {
  const { t, i18n } = useTranslation("pricing");
  const format = useFormat();
  // With a tenth of a cent where there is one: without it a credit of two packs seems to cost the same.
  const each = new Intl.NumberFormat(i18n.language, {
    ...{ style: "currency", currency: currency.toUpperCase(), currencyDisplay: "narrowSymbol", maximumFractionDigits: 3 },
  });
  return (
    <ul className={styles.packs}>
      {packs.map((pack) => {
        const figures = { credits: format.credits(pack.credits), price: format.money(pack.priceCents) };
        return (
          <li key={pack.key} className={styles.pack}>
            <span className={styles.credits}>
              {figures.credits}
              <span className={styles.each}>{t("packs.each", { price: each.format(pack.priceCents / pack.credits / 100) })}</span>
            </span>
            <span className={styles.price}>{figures.price}</span>
            {onBuy && (
              <Button size="small" busy={processing === pack.key} aria-label={t("packs.buyLabel", figures)} onClick={() => onBuy(pack.key)}>
                {t("packs.buy")}
              </Button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
