import { ChevronDown, List, Plus } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { useShallow } from "zustand/react/shallow";
import { Button, IconButton } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { Announcer } from "./announcer.tsx";
import styles from "./chat.module.css";
import { dismissRefusal, reload, stopAnswer, threadOf, useChat } from "./chat-store.ts";
import { Composer } from "./composer.tsx";
import { ConversationList } from "./conversation-list.tsx";
import { refreshConversations, useConversations } from "./conversations-store.ts";
import { ModelPicker } from "./model-picker.tsx";
import type { OfferedModel } from "./models-store.ts";
import { useModels } from "./models-store.ts";
import { ReceiptPanel } from "./receipt-panel.tsx";
import { RefusalView } from "./refusal-view.tsx";
import type { ThreadMessage } from "./thread.ts";
import { emptyThread, newThreadKey } from "./thread.ts";
import { ThreadView } from "./thread-view.tsx";
import { useDraft } from "./use-draft.ts";
import { useOnline } from "./use-online.ts";
import { useSending } from "./use-sending.ts";
import { useVisibleHeight } from "./use-visible-height.ts";

interface ChatScreenProps {
  userId: string;
  /** What can be spent now, in credits. */
  available: number;
  /** The open conversation's id, or `newThreadKey`. */
  threadKey: string;
  /** What the address brought along for a new conversation. */
  givenPrompt: string | null;
  givenModelId: string | null;
  /** To another conversation, or to a new one; `replace` where going back would lead to a screen that is no more. */
  onOpen: (threadKey: string, replace: boolean) => void;
}

/** What the screen shows of a thread; the growing text is the answer's own business, or every word would draw all of this. */
function useThread(threadKey: string) {
  return useChat(
    useShallow(({ threads }) => {
      const { messages, live, refusal } = threads[threadKey] ?? emptyThread;
      return {
        isEmpty: messages.length === 0,
        usedModelId: live?.modelId ?? messages.findLast((message) => message.receipt)?.receipt?.modelId ?? null,
        refusal,
        isLive: live !== null,
      };
    }),
  );
}

interface HeaderProps {
  model: OfferedModel | undefined;
  onConversations: () => void;
  onModels: () => void;
  onNew: () => void;
}

function Header({ model, onConversations, onModels, onNew }: HeaderProps) {
  const { t } = useTranslation("chat");
  return (
    <header className={styles.header}>
      <IconButton className={styles.narrowOnly} label={t("conversations.open")} onClick={onConversations}>
        <List size={20} aria-hidden="true" />
      </IconButton>
      <Button
        variant="quiet"
        className={styles.model ?? ""}
        aria-label={model ? t("model.change", { name: model.name }) : t("model.choose")}
        onClick={onModels}
      >
        {model && <ModelPattern modelId={model.id} category={model.category} className={styles.pattern} />}
        {model?.name ?? t("model.choose")}
        <ChevronDown size={16} aria-hidden="true" />
      </Button>
      <IconButton className={styles.narrowOnly} label={t("conversations.new")} onClick={onNew}>
        <Plus size={20} aria-hidden="true" />
      </IconButton>
    </header>
  );
}

/** Conversations, thread and receipt side by side; on a phone the thread alone, the rest a tap away. */
export function ChatScreen({ userId, available, threadKey, givenPrompt, givenModelId, onOpen }: ChatScreenProps) {
  const { t } = useTranslation("chat");
  const { models } = useModels();
  const thread = useThread(threadKey);
  const [draft, change] = useDraft(userId, threadKey, givenPrompt);
  const title = useConversations((state) => state.conversations.find(({ id }) => id === threadKey)?.title);
  const [open, setOpen] = useState<"conversations" | "models">();
  const online = useOnline();
  useVisibleHeight();

  const isNew = threadKey === newThreadKey && thread.isEmpty;
  const modelId = draft.modelId ?? (isNew ? givenModelId : null) ?? thread.usedModelId;
  const model = models.find(({ id }) => id === modelId);
  const onStarted = (conversationId: string) => {
    void refreshConversations();
    if (threadKey === newThreadKey) onOpen(conversationId, true);
  };
  const { sendDraft, sendAgain } = useSending({ userId, threadKey, draft, change, onStarted });

  useEffect(() => void refreshConversations(), []);
  useEffect(() => void reload(threadKey), [threadKey]);

  const choose = (modelId: string) => {
    change({ modelId });
    setOpen(undefined);
  };
  // The same function for good: a new one would draw every answer again with every key that is pressed.
  const latestSendAgain = useRef(sendAgain);
  latestSendAgain.current = sendAgain;
  const retry = useCallback(
    (answer: ThreadMessage) => {
      const { messages } = threadOf(threadKey);
      const question = messages.slice(0, messages.indexOf(answer)).findLast((message) => message.role === "user");
      const same = useModels.getState().models.find(({ id }) => id === answer.receipt?.modelId);
      if (question && same) void latestSendAgain.current(same, question.content);
    },
    [threadKey],
  );
  const list = (
    <ConversationList
      current={threadKey}
      onChosen={() => setOpen(undefined)}
      onDeleted={(id) => {
        if (id === threadKey) onOpen(newThreadKey, true);
      }}
    />
  );

  return (
    <div className={styles.screen}>
      <aside className={styles.side}>{list}</aside>
      <div className={styles.main}>
        {!isNew && <VisuallyHidden as="h1">{title ?? t("thread.label")}</VisuallyHidden>}
        <Header
          model={model}
          onConversations={() => setOpen("conversations")}
          onModels={() => setOpen("models")}
          onNew={() => onOpen(newThreadKey, false)}
        />
        {isNew ? (
          <div className={styles.start}>
            <h1>{t("start.title")}</h1>
            <p className={styles.lead}>{t("start.lead")}</p>
            <ModelPicker models={models} chosen={model?.id ?? null} onChoose={choose} />
          </div>
        ) : (
          <ThreadView key={threadKey} threadKey={threadKey} onRetry={thread.isLive || !online ? undefined : retry} />
        )}
        <div className={styles.bottom}>
          {thread.refusal && (
            <div className={styles.refusal}>
              <RefusalView
                refusal={thread.refusal}
                onDismiss={() => dismissRefusal(threadKey)}
                onAccept={(credits) => model && void sendDraft(model, credits)}
              />
            </div>
          )}
          <Composer
            text={draft.text}
            onText={(text) => change({ text, unsettledKey: null })}
            onSend={() => model && void sendDraft(model)}
            onStop={() => stopAnswer(threadKey)}
            model={model}
            available={available}
            online={online}
            threadKey={threadKey}
          />
        </div>
        <Announcer threadKey={threadKey} />
      </div>
      <ReceiptPanel threadKey={threadKey} model={model} available={available} />
      <Dialog open={open === "conversations"} onClose={() => setOpen(undefined)} title={t("conversations.title")} placement="side">
        {list}
      </Dialog>
      <Dialog open={open === "models"} onClose={() => setOpen(undefined)} title={t("model.choose")}>
        <ModelPicker models={models} chosen={model?.id ?? null} onChoose={choose} />
      </Dialog>
    </div>
  );
}
