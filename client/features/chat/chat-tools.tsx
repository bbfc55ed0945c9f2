import { ChevronDown, List, Plus } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import styles from "./chat.module.css";
import type { OfferedModel } from "./models-store.ts";

export type Sheet = "conversations" | "models";

/** The sheets: list and receipt on a phone, and the choice of a model everywhere. */
export function Sheets({
  open,
  onClose,
  list,
  children,
}: {
  open: Sheet | undefined;
  onClose: () => void;
  list: ReactNode;
  children: ReactNode;
}) {
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

interface ToolsProps {
  model: OfferedModel | undefined;
  attach: ReactNode;
  onConversations: () => void;
  onModels: () => void;
  onNew: () => void;
}

/** The buttons beside Send, in reach of a thumb: the model and, on a phone, the list and a new conversation. */
export function Tools({ model, attach, onConversations, onModels, onNew }: ToolsProps) {
  const { t } = useTranslation("chat");
  return (
    <>
      <IconButton className={styles.narrowOnly} label={t("conversations.open")} onClick={onConversations}>
        <List size={20} aria-hidden="true" />
      </IconButton>
      <IconButton className={styles.narrowOnly} label={t("conversations.new")} onClick={onNew}>
        <Plus size={20} aria-hidden="true" />
      </IconButton>
      {/* A model that makes pictures begins from those that are chosen with its options; others take no files beside words. */}
      {(model?.unit === "answer" || model === undefined) && attach}
      <Button
        variant="quiet"
        className={styles.model ?? ""}
        aria-label={model ? t("model.change", { name: model.name }) : t("model.choose")}
        onClick={onModels}
      >
        {model && <ModelPattern modelId={model.id} category={model.category} className={styles.pattern} />}
        <span className={styles.modelName}>{model?.name ?? t("model.choose")}</span>
        <ChevronDown size={16} aria-hidden="true" />
      </Button>
    </>
  );
}
