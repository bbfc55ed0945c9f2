import type { FormEvent } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { TextField } from "#client/components/field.tsx";
import type { ConversationSummary } from "#contract/conversations.ts";
import { checkTitle, conversationLimits, tidyTitle } from "#domain/conversations.ts";
import { deleteConversation, updateConversation } from "./conversations-store.ts";

interface DialogProps {
  conversation: ConversationSummary;
  onClose: () => void;
}

export function DeleteDialog({ conversation, onClose, onDeleted }: DialogProps & { onDeleted: () => void }) {
  const { t } = useTranslation(["dialogs", "chat"]);
  const [state, setState] = useState<"idle" | "busy" | "failed">("idle");
  const remove = () => {
    setState("busy");
    deleteConversation(conversation.id).then(onDeleted, () => setState("failed"));
  };
  const actions = (
    <>
      <Button onClick={onClose}>{t("dialogs:delete.keep")}</Button>
      <Button variant="danger" busy={state === "busy"} onClick={remove}>
        {t("chat:conversations.deleteAction")}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t("dialogs:delete.title")} actions={actions}>
      <p>{t("dialogs:delete.text", { title: conversation.title })}</p>
      {state === "failed" && <p role="alert">{t("dialogs:delete.failed")}</p>}
    </Dialog>
  );
}

export function RenameDialog({ conversation, onClose }: DialogProps) {
  const { t } = useTranslation(["dialogs", "chat"]);
  const [title, setTitle] = useState(conversation.title);
  const [state, setState] = useState<"idle" | "busy" | "failed">("idle");
  const [fault, setFault] = useState<ReturnType<typeof checkTitle>>();
  const faultText =
    fault && (fault === "empty" ? t("dialogs:rename.titleEmpty") : t("dialogs:rename.titleLong", { count: conversationLimits.titleMax }));

  const save = (event: FormEvent) => {
    event.preventDefault();
    const found = checkTitle(title);
    setFault(found);
    if (found || state === "busy") return;
    setState("busy");
    updateConversation(conversation.id, { title: tidyTitle(title) }).then(onClose, () => setState("failed"));
  };
  const actions = (
    <Button variant="primary" type="submit" form="rename" busy={state === "busy"}>
      {t("chat:list.save")}
    </Button>
  );
  return (
    <Dialog open onClose={onClose} title={t("dialogs:rename.title")} actions={actions}>
      <form id="rename" onSubmit={save}>
        <TextField
          label={t("dialogs:rename.label")}
          name="title"
          value={title}
          error={faultText}
          autoComplete="off"
          onFocus={(event) => event.target.select()}
          onChange={(event) => setTitle(event.target.value)}
        />
      </form>
      {state === "failed" && <p role="alert">{t("chat:list.failed")}</p>}
    </Dialog>
  );
}
