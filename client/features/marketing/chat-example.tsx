import { useTranslation } from "react-i18next";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { firstModel } from "#client/lib/offered-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { plans } from "#domain/plans.ts";
import styles from "./chat-example.module.css";

const granted = plans.starter.monthlyCredits;

/** Shows visitors what the chat looks like: an example at the start of a Starter month, with prices from the catalogue. */
export function ChatExample() {
  const { t } = useTranslation("home");
  const format = useFormat();
  const model = firstModel({ size: "small" });
  if (!model) return null;
  const cost = format.credits(model.credits);
  return (
    <figure className={styles.chat} aria-label={t("chat.label")}>
      <p className={styles.model}>
        <ModelPattern modelId={model.id} category={model.category} className={styles.pattern} />
        <span className={styles.name}>{model.name}</span>
        <span>{format.modelPrice(model)}</span>
      </p>
      <p className={styles.prompt}>{t("chat.prompt")}</p>
      <p className={styles.price}>
        {t("price.receipt.price")}
        <span className={styles.cost}>
          <PriceTiles credits={model.credits} /> {cost}
        </span>
      </p>
      <p className={styles.answer}>
        <strong>{t("chat.first")}</strong>
        <strong>{t("chat.second")}</strong>
      </p>
      <div className={styles.receipt}>
        <p className={styles.price}>
          {t("price.receipt.charged")}
          <span className={styles.cost}>
            <PriceTiles credits={model.credits} /> {cost}
          </span>
        </p>
        <p className={styles.price}>
          {t("price.receipt.balance", { credits: format.number(granted) })}
          <span className={styles.cost}>{format.credits(granted - model.credits)}</span>
        </p>
      </div>
    </figure>
  );
}
