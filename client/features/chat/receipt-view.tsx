import { useTranslation } from "react-i18next";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { knownModel } from "#client/lib/known-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { Receipt } from "#contract/generations/generations.ts";
import { deliveredPictures } from "#domain/pictures.ts";
import styles from "./receipt.module.css";
import { useOutcome } from "./use-outcome.ts";

/** The result of the answer in one line. */
export function useReceiptSummary(): (receipt: Receipt) => string {
  const { t } = useTranslation("chat");
  const { credits, number } = useFormat();
  return (receipt) => {
    if (receipt.chargedCredits === null) return t("receipt.pending");
    if (receipt.chargedCredits === 0)
      return t(receipt.status === "stopped" && !receipt.picture && !receipt.clip ? "receipt.stoppedFree" : "receipt.summaryFree");
    const charged = credits(receipt.chargedCredits);
    if (receipt.picture) {
      const { count } = receipt.picture;
      const delivered = number(deliveredPictures(count, receipt.heldCredits, receipt.chargedCredits));
      return t("receipt.pictures", { delivered, total: number(count), charged });
    }
    return receipt.availableAfter === null
      ? t("receipt.chargedOnly", { charged })
      : t("receipt.summary", { charged, left: number(receipt.availableAfter) });
  };
}

/** Promise 3: model, price, hold, charge and the balance afterwards. */
export function ReceiptLines({ receipt }: { receipt: Receipt }) {
  const { t } = useTranslation("chat");
  const { credits, dateTime } = useFormat();
  const { chargedCredits, availableAfter, trimmedMessages } = receipt;
  const outcome = useOutcome(receipt.filterReason !== undefined || (receipt.searches ?? 0) > 0);
  return (
    <div className={styles.receipt}>
      <dl className={styles.lines}>
        <div>
          <dt>{t("receipt.model")}</dt>
          <dd>{knownModel(receipt.modelId)?.name ?? receipt.modelId}</dd>
        </div>
        <div>
          <dt>{t("receipt.held")}</dt>
          <dd>{credits(receipt.heldCredits)}</dd>
        </div>
        <div>
          <dt>{t("receipt.charged")}</dt>
          <dd>
            {chargedCredits !== null && chargedCredits > 0 && <PriceTiles credits={chargedCredits} />}
            {chargedCredits === null ? t("receipt.pending") : credits(chargedCredits)}
          </dd>
        </div>
        {availableAfter !== null && (
          <div>
            <dt>{t("receipt.left")}</dt>
            <dd>{credits(availableAfter)}</dd>
          </div>
        )}
        {outcome && <outcome.OutcomeLines receipt={receipt} />}
        <div>
          <dt>{t("receipt.when")}</dt>
          <dd>{dateTime(receipt.endedAt ?? receipt.createdAt)}</dd>
        </div>
      </dl>
      {trimmedMessages > 0 && <p className={styles.note}>{t("answer.trimmed", { count: trimmedMessages })}</p>}
    </div>
  );
}
