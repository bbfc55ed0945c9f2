import { useTranslation } from "react-i18next";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { useChat } from "./chat-store.ts";
import type { OfferedModel } from "./models-store.ts";
import styles from "./receipt-panel.module.css";
import { ReceiptLines } from "./receipt-view.tsx";
import { emptyThread } from "./thread.ts";

interface ReceiptPanelProps {
  threadKey: string;
  model: OfferedModel | undefined;
  available: number;
}

/** What a stop costs. */
function fairnessOf(model: OfferedModel | undefined) {
  if (model?.unit === "clip") return "chat:receipt.clipsFairness";
  return model?.unit === "image" ? "chat:receipt.picturesFairness" : "chat:receipt.fairness";
}

/** Beside the thread if there is room: the balance, the held credits and the latest receipt. */
export function ReceiptPanel({ threadKey, model, available }: ReceiptPanelProps) {
  const { t } = useTranslation(["chat", "common"]);
  const { credits, number, namedPrice } = useFormat();
  const heldCredits = useChat((state) => state.threads[threadKey]?.live?.credits ?? null);
  const receipt = useChat(
    (state) => (state.threads[threadKey] ?? emptyThread).messages.findLast((message) => message.receipt)?.receipt ?? null,
  );
  return (
    <aside className={styles.panel} aria-label={t("chat:receipt.title")}>
      <p className={styles.label}>{t("chat:receipt.wallet")}</p>
      <p className={styles.figure}>{number(available)}</p>
      {heldCredits !== null && (
        <p className={styles.held}>
          <PriceTiles credits={heldCredits} />
          <span>{t("chat:receipt.heldNow", { credits: credits(heldCredits) })}</span>
        </p>
      )}
      {model && heldCredits === null && (
        <p className={styles.held}>
          <PriceTiles credits={model.credits} />
          <span>{namedPrice(model)}</span>
        </p>
      )}
      <h2 className={styles.title}>{t("chat:receipt.title")}</h2>
      {receipt ? <ReceiptLines receipt={receipt} /> : <p className={styles.note}>{t("chat:receipt.none")}</p>}
      <p className={styles.note}>{t(fairnessOf(model))}</p>
    </aside>
  );
}
