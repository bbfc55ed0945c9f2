import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { useOnline } from "#client/lib/use-online.ts";
import { askAgain } from "./ask-again.ts";
import { useChat } from "./chat-store.ts";
import { focusComposer } from "./composer.tsx";
import { useModels } from "./models-store.ts";
import styles from "./thread.module.css";
import type { ThreadMessage } from "./thread.ts";

interface GoOnProps {
  threadKey: string;
  message: ThreadMessage;
}

/** Below an answer that reached its model's length limit: says so. On the latest answer a button asks for the rest, as a new question. */
export function GoOn({ threadKey, message }: GoOnProps) {
  const { t } = useTranslation("chat");
  const { credits } = useFormat();
  const online = useOnline();
  const model = useModels(({ models }) => models.find(({ id }) => id === message.receipt?.modelId));
  const isLatest = useChat(({ threads }) => threads[threadKey]?.live === null && threads[threadKey].messages.at(-1)?.id === message.id);
  const goOn = () => {
    if (!model) return;
    const again = { modelId: model.id, prompt: t("answer.goOnPrompt"), place: { parentId: message.id } };
    void askAgain(again, { threadKey, quotedCredits: model.credits, onStarted: () => undefined });
    focusComposer();
  };
  return (
    <div className={styles.cutShort}>
      <p>{t("answer.cutShort")}</p>
      {isLatest && online && model && model.available !== false && (
        <Button size="small" onClick={goOn}>
          {t("answer.goOn", { credits: credits(model.credits) })}
        </Button>
      )}
    </div>
  );
}
