import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Button, IconButton, LinkButton } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { paths } from "#client/paths.ts";
import type { ConversationSummary } from "#contract/generations.ts";
import styles from "./conversations.module.css";
import { deleteConversation, loadOlderConversations, refreshConversations, useConversations } from "./conversations-store.ts";

export function conversationPath(id: string): string {
  return `${paths.aiModels}?conversation=${id}`;
}

interface ConversationListProps {
  /** The conversation that is open. */
  current: string;
  /** After one was chosen: a list that covers the thread can then close. */
  onChosen: () => void;
  onDeleted: (id: string) => void;
}

function DeleteDialog({
  conversation,
  onClose,
  onDeleted,
}: {
  conversation: ConversationSummary;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const { t } = useTranslation("chat");
  const [state, setState] = useState<"idle" | "busy" | "failed">("idle");
  const remove = () => {
    setState("busy");
    deleteConversation(conversation.id).then(onDeleted, () => setState("failed"));
  };
  const actions = (
    <>
      <Button onClick={onClose}>{t("conversations.keep")}</Button>
      <Button variant="danger" busy={state === "busy"} onClick={remove}>
        {t("conversations.deleteAction")}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t("conversations.deleteTitle")} actions={actions}>
      <p>{t("conversations.deleteText", { title: conversation.title })}</p>
      {state === "failed" && <p role="alert">{t("conversations.deleteFailed")}</p>}
    </Dialog>
  );
}

export function ConversationList({ current, onChosen, onDeleted }: ConversationListProps) {
  const { t } = useTranslation("chat");
  const { status, conversations, nextCursor } = useConversations();
  const [deleting, setDeleting] = useState<ConversationSummary>();
  const [olderFailed, setOlderFailed] = useState(false);

  return (
    <nav className={styles.list} aria-label={t("conversations.title")}>
      <LinkButton href={paths.aiModels} wide onClick={onChosen}>
        <Plus size={18} aria-hidden="true" />
        {t("conversations.new")}
      </LinkButton>
      {status === "loading" && <Spinner size="small" label={t("conversations.loading")} />}
      {status === "failed" && (
        <div className={styles.note}>
          <p>{t("conversations.failed")}</p>
          <Button size="small" onClick={() => void refreshConversations()}>
            {t("conversations.retry")}
          </Button>
        </div>
      )}
      {status === "ready" && conversations.length === 0 && <p className={styles.note}>{t("conversations.empty")}</p>}
      <ul className={styles.items}>
        {conversations.map((conversation) => (
          <li key={conversation.id} className={styles.item} data-current={conversation.id === current || undefined}>
            <Link
              href={conversationPath(conversation.id)}
              className={styles.link}
              aria-current={conversation.id === current ? "page" : undefined}
              onClick={onChosen}
            >
              {conversation.title}
            </Link>
            <IconButton
              className={styles.delete}
              label={t("conversations.delete", { title: conversation.title })}
              onClick={() => setDeleting(conversation)}
            >
              <Trash2 size={16} aria-hidden="true" />
            </IconButton>
          </li>
        ))}
      </ul>
      {nextCursor !== null && (
        <Button
          size="small"
          variant="quiet"
          onClick={() => {
            loadOlderConversations().then(
              () => setOlderFailed(false),
              () => setOlderFailed(true),
            );
          }}
        >
          {t(olderFailed ? "conversations.retry" : "conversations.older")}
        </Button>
      )}
      {deleting && (
        <DeleteDialog
          conversation={deleting}
          onClose={() => setDeleting(undefined)}
          onDeleted={() => {
            setDeleting(undefined);
            onDeleted(deleting.id);
          }}
        />
      )}
    </nav>
  );
}
