import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { WalletMosaic } from "#client/components/wallet-mosaic.tsx";
import { offeredModels } from "#client/lib/offered-models.ts";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import styles from "./design.module.css";

const now = new Date();
const inDays = (days: number) => addMilliseconds(now, days * dayMs).toISOString();
const grants = [
  { id: "trial", kind: "trial", credits: 50, remaining: 18, held: 0, expiresAt: inDays(3) },
  { id: "plan", kind: "plan", credits: 300, remaining: 212, held: 10, expiresAt: inDays(11) },
  { id: "pack", kind: "pack", credits: 250, remaining: 250, held: 0, expiresAt: inDays(290) },
] as const;

export function ModelSpecimens() {
  const { t } = useTranslation("design");
  return (
    <div className={styles.stack}>
      <p>{t("models", { count: offeredModels().length })}</p>
      <ul className={styles.models}>
        {offeredModels().map((model) => (
          <li key={model.id}>
            <ModelPattern modelId={model.id} category={model.category} className={styles.pattern} />
            <span>{model.name}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

export function TileSpecimens() {
  const { t } = useTranslation("design");
  return (
    <>
      <h3>{t("prices")}</h3>
      <div className={styles.row}>
        {[1, 2, 5, 10, 12, 50].map((credits) => (
          <PriceTiles key={credits} credits={credits} />
        ))}
      </div>
      <h3>{t("wallet")}</h3>
      <WalletMosaic grants={grants} now={now} />
      <h3>{t("settling")}</h3>
      <div className={styles.row}>
        <Spinner size="small" />
        <Spinner label={t("waitingLabel")} />
      </div>
      <h3>{t("empty")}</h3>
      <EmptyState title={t("emptyTitle")} action={<Button variant="primary">{t("emptyAction")}</Button>}>
        {t("emptyText")}
      </EmptyState>
    </>
  );
}
