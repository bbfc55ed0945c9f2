import { ChevronDown, List, Plus } from "lucide-react";
import type { ReactNode } from "react";
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
import { SetAside } from "./set-aside.tsx";
import type { Refusal, ThreadMessage } from "./thread.ts";
import { emptyThread, newThreadKey } from "./thread.ts";
import { ThreadView } from "./thread-view.tsx";
import { useDraft } from "./use-draft.ts";
import { useOnline } from "./use-online.ts";
import type { Sending } from "./use-sending.ts";
import { useSending } from "./use-sending.ts";
import { useVisibleHeight } from "./use-visible-height.ts";

interface ChatScreenProps {
  userId: string;
  /** What can be spent now, in credits. */
  available: number;
  /** Whether the server, or its last word where that is fresh enough, allows a send. */
  maySend: boolean;
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
      };
    }),
  );
}

/** Asks the question before an answer again. The same function for good: a new one would draw every answer with every key pressed. */
function useRetry(threadKey: string, sendAgain: Sending["sendAgain"]): (answer: ThreadMessage) => void {
  const latest = useRef(sendAgain);
  latest.current = sendAgain;
  return useCallback(
    (answer) => {
      const { messages } = threadOf(threadKey);
      const question = messages.slice(0, messages.indexOf(answer)).findLast((message) => message.role === "user");
      const model = useModels.getState().models.find(({ id }) => id === answer.receipt?.modelId);
      if (question && model) void latest.current(model, question.content);
    },
    [threadKey],
  );
}

function Refused({ threadKey, refusal, onAccept }: { threadKey: string; refusal: Refusal | null; onAccept: (credits: number) => void }) {
  if (!refusal) return null;
  return (
    <div className={styles.refusal}>
      <RefusalView refusal={refusal} onDismiss={() => dismissRefusal(threadKey)} onAccept={onAccept} />
    </div>
  );
}

/** A conversation that has not begun: the models to choose from. */
function Start(picker: { models: readonly OfferedModel[]; chosen: string | null; onChoose: (modelId: string) => void }) {
  const { t } = useTranslation("chat");
  return (
    <div className={styles.start}>
      <h1>{t("start.title")}</h1>
      <p className={styles.lead}>{t("start.lead")}</p>
      <ModelPicker {...picker} />
    </div>
  );
}

/** The open conversation's name, for those who listen: the screen shows it in the list. */
function ThreadHeading({ threadKey }: { threadKey: string }) {
  const { t } = useTranslation("chat");
  const title = useConversations((state) => state.conversations.find(({ id }) => id === threadKey)?.title);
  return <VisuallyHidden as="h1">{title ?? t("thread.label")}</VisuallyHidden>;
}

type Sheet = "conversations" | "models";

/** What lies a tap away on a phone, and the change of model everywhere. */
function Sheets({ open, onClose, list, children }: { open: Sheet | undefined; onClose: () => void; list: ReactNode; children: ReactNode }) {
  const { t } = useTranslation("chat");
  return (
    <>
      <Dialog open={open === "conversations"} onClose={onClose} title={t("conversations.title")} placement="side">
        {list}
      </Dialog>
      <Dialog open={open === "models"} onClose={onClose} title={t("model.choose")}>
        {children}
      </Dialog>
    </>
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
export function ChatScreen({ userId, available, maySend, threadKey, givenPrompt, givenModelId, onOpen }: ChatScreenProps) {
  const { models } = useModels();
  const thread = useThread(threadKey);
  const onTaken = () => onOpen(newThreadKey, true);
  const { draft, change, aside, bringBack } = useDraft({ userId, threadKey, givenPrompt, givenModelId, onTaken });
  const [open, setOpen] = useState<Sheet>();
  const online = useOnline() && maySend;
  useVisibleHeight();

  const isNew = threadKey === newThreadKey && thread.isEmpty;
  const chosen = draft.modelId ?? (isNew ? givenModelId : null) ?? thread.usedModelId;
  const model = models.find(({ id }) => id === chosen);
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
  const retry = useRetry(threadKey, sendAgain);
  const close = () => setOpen(undefined);
  const leave = (id: string) => id === threadKey && onOpen(newThreadKey, true);
  const list = <ConversationList current={threadKey} onChosen={close} onDeleted={leave} />;

  return (
    <div className={styles.screen}>
      <aside className={styles.side}>{list}</aside>
      <div className={styles.main}>
        {!isNew && <ThreadHeading threadKey={threadKey} />}
        <Header
          model={model}
          onConversations={() => setOpen("conversations")}
          onModels={() => setOpen("models")}
          onNew={() => onOpen(newThreadKey, false)}
        />
        {isNew ? (
          <Start models={models} chosen={model?.id ?? null} onChoose={choose} />
        ) : (
          <ThreadView key={threadKey} threadKey={threadKey} onRetry={retry} />
        )}
        <div className={styles.bottom}>
          <Refused threadKey={threadKey} refusal={thread.refusal} onAccept={(credits) => model && void sendDraft(model, credits)} />
          {isNew && <SetAside aside={aside} onBringBack={bringBack} />}
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
      <Sheets open={open} onClose={close} list={list}>
        <ModelPicker models={models} chosen={model?.id ?? null} onChoose={choose} />
      </Sheets>
    </div>
  );
}
