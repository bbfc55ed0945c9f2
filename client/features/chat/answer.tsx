import { memo, useLayoutEffect } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { findModel } from "#domain/models.ts";
import { useChat } from "./chat-store.ts";
import { CopyButton } from "./copy-button.tsx";
import { useFailureText } from "./failure-text.ts";
import { Markdown } from "./markdown-view.tsx";
import { ReceiptLines, useReceiptSummary } from "./receipt-view.tsx";
import styles from "./thread.module.css";
import type { ThreadMessage } from "./thread.ts";

function ModelName({ modelId }: { modelId: string }) {
  const model = findModel(modelId);
  return (
    <p className={styles.author}>
      {model && <ModelPattern modelId={model.id} category={model.category} className={styles.badge} />}
      {model?.name ?? modelId}
    </p>
  );
}

interface AnswerProps {
  message: ThreadMessage;
  /** Asks the same again; absent while that is not possible. */
  onRetry: ((message: ThreadMessage) => void) | undefined;
}

/** A finished answer with its receipt. */
export const Answer = memo(function Answer({ message, onRetry }: AnswerProps) {
  const { t } = useTranslation("chat");
  const { credits } = useFormat();
  const summary = useReceiptSummary();
  const failureText = useFailureText();
  const { receipt, content } = message;
  const failed = receipt?.status === "failed";
  const price = receipt ? (findModel(receipt.modelId)?.credits ?? receipt.heldCredits) : 0;
  return (
    <article className={styles.answer}>
      {receipt && <ModelName modelId={receipt.modelId} />}
      {content !== "" && <Markdown text={content} finished />}
      {failed && (
        <div className={styles.failure}>
          <p className={styles.failureTitle}>{t("failure.title")}</p>
          <p>{failureText(receipt.failureCode)}</p>
        </div>
      )}
      <div className={styles.foot}>
        {receipt && (
          <details className={styles.receipt} data-free={receipt.chargedCredits === 0 || undefined}>
            <summary>{failed ? t("receipt.title") : summary(receipt)}</summary>
            <ReceiptLines receipt={receipt} />
          </details>
        )}
        {content !== "" && <CopyButton label={t("answer.copy")} text={content} />}
        {onRetry && receipt && (failed || receipt.status === "stopped") && (
          <Button size="small" onClick={() => onRetry(message)}>
            {t("answer.retry", { credits: credits(price) })}
          </Button>
        )}
      </div>
    </article>
  );
});

interface LiveAnswerProps {
  threadKey: string;
  /** After each piece of the answer is drawn, so that the reader can be taken along. */
  onGrow: () => void;
}

/** The answer under way. The only part of the thread that is drawn anew with every frame. */
export function LiveAnswer({ threadKey, onGrow }: LiveAnswerProps) {
  const { t } = useTranslation("chat");
  const live = useChat((state) => state.threads[threadKey]?.live ?? null);
  const length = live?.text.length;

  useLayoutEffect(() => {
    if (length !== undefined) onGrow();
  }, [onGrow, length]);

  if (!live) return null;
  const waiting = live.phase === "sending" ? t("answer.sending") : t("answer.waiting");
  return (
    <article className={styles.answer} aria-busy="true">
      <ModelName modelId={live.modelId} />
      {live.trimmedMessages > 0 && <p className={styles.note}>{t("answer.trimmed", { count: live.trimmedMessages })}</p>}
      {live.text !== "" && <Markdown text={live.text} finished={false} />}
      {live.phase === "lost" ? (
        <p className={styles.note}>
          <Spinner size="small" /> {t("answer.lost")}
        </p>
      ) : (
        live.text === "" && (
          <p className={styles.note}>
            <Spinner size="small" /> {waiting}
          </p>
        )
      )}
    </article>
  );
}
