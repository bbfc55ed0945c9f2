import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { knownModel } from "#client/lib/known-models.ts";
import { useChat } from "./chat-store.ts";
import { useReceiptSummary } from "./receipt-view.tsx";
import { emptyThread } from "./thread.ts";

/** Tells screen readers that an answer has begun and how it ended. They read the text itself when the person goes to it. */
export function Announcer({ threadKey }: { threadKey: string }) {
  const { t } = useTranslation("chat");
  const summary = useReceiptSummary();
  const modelId = useChat((state) => state.threads[threadKey]?.live?.modelId);
  const last = useChat((state) => (state.threads[threadKey] ?? emptyThread).messages.at(-1));
  const [said, setSaid] = useState("");
  const following = useRef(false);

  useEffect(() => {
    if (modelId !== undefined && !following.current) {
      following.current = true;
      setSaid(t("answer.started", { name: knownModel(modelId)?.name ?? modelId }));
    } else if (modelId === undefined && following.current) {
      following.current = false;
      setSaid(last?.receipt ? t("answer.finished", { outcome: summary(last.receipt) }) : "");
    }
  }, [modelId, last, summary, t]);

  return (
    <div role="status" aria-live="polite">
      <VisuallyHidden>{said}</VisuallyHidden>
    </div>
  );
}
