import i18next from "i18next";
import type { ReactNode } from "react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useShallow } from "zustand/react/shallow";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import type { NextCredits } from "#client/lib/next-credits.ts";
import { useOnline } from "#client/lib/use-online.ts";
import { Announcer } from "./announcer.tsx";
import styles from "./chat.module.css";
import { dismissRefusal, reload, stopAnswer, threadOf, useChat } from "./chat-store.ts";
import type { Sheet } from "./chat-tools.tsx";
import { Sheets, Tools } from "./chat-tools.tsx";
import type { ComposerProps } from "./composer.tsx";
import { Composer, focusComposer } from "./composer.tsx";
import { ConversationList } from "./conversation-list.tsx";
import { refreshConversations, useConversations } from "./conversations-store.ts";
import { measureFoot } from "./foot-height.ts";
import { lateModule } from "./late-module.ts";
import { preferredModel } from "./model-choice.ts";
import { ModelPicker } from "./model-picker.tsx";
import type { OfferedModel } from "./models-store.ts";
import { refreshModels, useModels } from "./models-store.ts";
import { ReceiptPanel } from "./receipt-panel.tsx";
import { RefusalView } from "./refusal-view.tsx";
import { SetAside } from "./set-aside.tsx";
import { Start } from "./start.tsx";
import type { Refusal, ThreadMessage } from "./thread.ts";
import { emptyThread, latestAnswer, newThreadKey } from "./thread.ts";
import { ThreadView } from "./thread-view.tsx";
import type { Drafting } from "./use-draft.ts";
import { useDraft } from "./use-draft.ts";
import { useFiles } from "./use-files.tsx";
import { useLastModel } from "./use-last-model.ts";
import { useAsked, useGivenPicture } from "./use-pictures.tsx";
import { useRetry } from "./use-retry.ts";
import type { Sending } from "./use-sending.ts";
import { useSending } from "./use-sending.ts";
import { useSharedRecording } from "./use-sounds.tsx";
import { useVisibleHeight } from "./use-visible-height.ts";

interface ChatScreenProps {
  userId: string;
  /** Available credits. */
  available: number;
  /** When the next credits arrive; null if that is not known. */
  nextCredits: NextCredits | null;
  /** Whether the server allows a send, by its latest answer if that is recent enough. */
  maySend: boolean;
  /** The open conversation's id, or `newThreadKey`. */
  threadKey: string;
  /** The prompt in the address, for a new conversation. */
  givenPrompt: string | null;
  givenModelId: string | null;
  /** Opens another or a new conversation. `replace` if the screen to go back to no longer exists. */
  onOpen: (threadKey: string, replace: boolean) => void;
}

/**
 * The parts of a thread that the screen shows. The growing text is read by the answer alone, or the whole screen would render
 * with every word.
 */
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

function useModelFor(userId: string, threadKey: string, chosen: string | null, refusal: Refusal | null): OfferedModel | undefined {
  const { models } = useModels();
  // The model has ended or was switched off since this page asked for the models.
  const isOutdated = refusal?.code === "model_retired" || refusal?.code === "model_unavailable";
  useEffect(() => void (isOutdated && refreshModels()), [isOutdated]);
  const last = useLastModel(userId, threadKey);
  return last === undefined && chosen === null ? undefined : preferredModel(models, chosen, last ?? null);
}

/** With its texts. */
const useAskDialog = lateModule(async () => {
  await i18next.loadNamespaces("dialogs");
  return import("./ask-dialog.tsx");
});

interface AskingProps {
  threadKey: string;
  /** The question to edit or the answer to ask for again; null if the dialog is closed. */
  asking: ThreadMessage | null;
  modelId: string | undefined;
  available: number;
  sendAgain: Sending["sendAgain"];
  onClose: () => void;
}

/** The dialog is loaded when it is first opened. */
function Asking({ threadKey, asking, modelId, available, sendAgain, onClose }: AskingProps) {
  const dialog = useAskDialog(asking !== null);
  if (!asking || !dialog) return null;
  const send: Sending["sendAgain"] = (again, credits) => {
    focusComposer();
    return sendAgain(again, credits);
  };
  const receipt = asking.receipt ?? latestAnswer(threadOf(threadKey).all, asking)?.receipt ?? null;
  return <dialog.AskDialog message={asking} modelId={receipt?.modelId ?? modelId} {...{ receipt, available, onClose }} onSend={send} />;
}

interface FootProps extends ComposerProps {
  refusal: Refusal | null;
  nextCredits: NextCredits | null;
  /** Sends at another price than the one shown before. */
  onAccept: (credits: number) => void;
  children: ReactNode;
}

/** The lower part of the screen: why the last send was refused, and the composer. */
function Foot({ refusal, nextCredits, onAccept, children, ...composer }: FootProps) {
  const { threadKey, model, onUse } = composer;
  const dismiss = () => dismissRefusal(threadKey);
  const use = (modelId: string) => {
    onUse(modelId);
    dismiss();
    // The button that had the focus disappears with the refusal.
    focusComposer();
  };
  return (
    <div ref={measureFoot} className={styles.bottom}>
      {refusal && (
        <div className={styles.refusal}>
          <RefusalView {...{ refusal, model, nextCredits, onAccept }} onUse={use} onDismiss={dismiss} />
        </div>
      )}
      {children}
      <Composer {...composer} />
    </div>
  );
}

/** The open conversation's title for screen readers. Sighted people see it in the list. */
function ThreadHeading({ threadKey }: { threadKey: string }) {
  const { t } = useTranslation("chat");
  const title = useConversations((state) => state.conversations.find(({ id }) => id === threadKey)?.title);
  return <VisuallyHidden as="h1">{title ?? t("thread.label")}</VisuallyHidden>;
}

/** Reads the list, and the conversation that is opened; keeps the screen above a phone's keyboard. */
function useFresh(threadKey: string): void {
  useVisibleHeight();
  useEffect(() => void refreshConversations(), []);
  useEffect(() => void reload(threadKey), [threadKey]);
}

/** A new conversation is opened once the server has accepted its first prompt. */
function whenStarted(threadKey: string, onOpen: ChatScreenProps["onOpen"]) {
  return (conversationId: string) => {
    void refreshConversations();
    if (threadKey === newThreadKey) onOpen(conversationId, true);
  };
}

/** Puts an example into the composer, or what was spoken behind what is there. */
function writers({ draft, fill, change }: Pick<Drafting, "draft" | "fill" | "change">) {
  const fillIn = (text: string) => {
    fill(text);
    focusComposer();
  };
  const speak = (text: string) => {
    change({ text: `${draft.text.trimEnd()} ${text}`.trim(), unsettledKey: null });
    focusComposer();
  };
  return { fillIn, speak };
}

/** Conversations, thread and receipt side by side. On a phone the thread alone; the others open in sheets. */
export function ChatScreen({ userId, available, nextCredits, maySend, threadKey, givenPrompt, givenModelId, onOpen }: ChatScreenProps) {
  const { models } = useModels();
  const thread = useThread(threadKey);
  const given = { givenPrompt, givenModelId, onTaken: () => onOpen(newThreadKey, true) };
  const { draft, change, follow, fill, aside, bringBack } = useDraft({ userId, threadKey, ...given });
  const [open, setOpen] = useState<Sheet>();
  const online = useOnline() && maySend;
  const isNew = threadKey === newThreadKey && thread.isEmpty;
  const chosen = draft.modelId ?? (isNew ? givenModelId : null) ?? thread.usedModelId;
  const model = useModelFor(userId, threadKey, chosen, thread.refusal);
  const onStarted = whenStarted(threadKey, onOpen);
  const files = useFiles({ threadKey, draft, change, follow, model, available });
  const { recording, voice, isPending, ...asked } = useAsked(model, { draft, change }, threadKey);
  const sent = { attached: files.attached, recording, voice, price: asked.price };
  const { sendDraft, sendAgain, accept } = useSending({ userId, threadKey, draft, change, onStarted, ...sent });
  useFresh(threadKey);
  useSharedRecording(threadKey, follow, files.button !== null);

  const choose = (modelId: string) => {
    change({ modelId });
    setOpen(undefined);
  };
  const retry = useRetry(sendAgain);
  const [asking, setAsking] = useState<ThreadMessage | null>(null);
  const { fillIn, speak } = writers({ draft, fill, change });
  useGivenPicture({ fill, change });
  const show = (sheet?: Sheet) => () => setOpen(sheet);
  const tools = (
    <Tools
      {...{ model, attach: files.button, onConversations: show("conversations"), onModels: show("models") }}
      onNew={() => onOpen(newThreadKey, false)}
    />
  );
  const onDeleted = (id: string) => id === threadKey && onOpen(newThreadKey, true);
  const list = <ConversationList current={threadKey} onChosen={show()} onDeleted={onDeleted} />;
  return (
    <div className={styles.screen}>
      <aside className={styles.side}>{list}</aside>
      <div className={styles.main}>
        {!isNew && <ThreadHeading threadKey={threadKey} />}
        {isNew ? (
          <Start chosen={model} onChoose={choose} onAll={show("models")} onPrompt={fillIn} />
        ) : (
          <ThreadView key={threadKey} threadKey={threadKey} onRetry={retry} onAsk={setAsking} />
        )}
        <Foot
          {...{ ...asked, threadKey, model, available, online, nextCredits, refusal: thread.refusal, text: draft.text }}
          files={{ list: files.list, blocked: files.blocked || isPending }}
          onSpoken={speak}
          onText={(text) => change({ text, unsettledKey: null })}
          onSend={() => model && void sendDraft(model)}
          onAccept={(credits) => void accept(thread.refusal, model, credits)}
          onStop={() => stopAnswer(threadKey)}
          onUse={choose}
          tools={tools}
        >
          {isNew && <SetAside aside={aside} onBringBack={bringBack} />}
        </Foot>
        <Announcer threadKey={threadKey} />
      </div>
      <ReceiptPanel threadKey={threadKey} model={model?.ended ? undefined : model} available={available} />
      <Sheets open={open} onClose={show()} list={list}>
        <ModelPicker {...{ models, available }} chosen={model?.id ?? null} onChoose={choose} />
      </Sheets>
      <Asking {...{ threadKey, asking, available, sendAgain }} modelId={model?.id} onClose={() => setAsking(null)} />
    </div>
  );
}
