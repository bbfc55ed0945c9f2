import { Pencil, Pin, PinOff, Trash2 } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Menu } from "#client/components/menu.tsx";
import type { ConversationSummary } from "#contract/conversations.ts";

interface ConversationMenuProps {
  conversation: ConversationSummary;
  /** The button that opened the menu. */
  button: HTMLElement;
  onPin: () => void;
  onRename: () => void;
  onDelete: () => void;
  onClose: () => void;
}

export function ConversationMenu({ conversation, button, onPin, onRename, onDelete, onClose }: ConversationMenuProps) {
  const { t } = useTranslation("chat");
  const PinIcon = conversation.pinned ? PinOff : Pin;
  const items = [
    { icon: <PinIcon size={16} aria-hidden="true" />, label: t(conversation.pinned ? "list.unpin" : "list.pin"), act: onPin },
    { icon: <Pencil size={16} aria-hidden="true" />, label: t("list.rename"), act: onRename },
    { icon: <Trash2 size={16} aria-hidden="true" />, label: t("conversations.deleteAction"), act: onDelete },
  ];
  return <Menu {...{ items, button, onClose }} />;
}
