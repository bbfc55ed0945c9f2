import { Pencil, Pin, PinOff, Trash2 } from "lucide-react";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import type { ConversationSummary } from "#contract/generations.ts";
import styles from "./conversations.module.css";

interface ConversationMenuProps {
  conversation: ConversationSummary;
  /** The button that opened the menu. The menu is placed at it and returns the focus to it. */
  button: HTMLElement;
  onPin: () => void;
  onRename: () => void;
  onDelete: () => void;
  onClose: () => void;
}

/** Below the button, or above it if there is no room below. */
function placeAt(menu: HTMLElement, button: HTMLElement): void {
  const [at, own] = [button.getBoundingClientRect(), menu.getBoundingClientRect()];
  const below = at.bottom + own.height <= innerHeight;
  menu.style.setProperty("top", `${Math.max(0, below ? at.bottom : at.top - own.height)}px`);
  menu.style.setProperty("left", `${Math.max(0, Math.min(at.right, innerWidth) - own.width)}px`);
}

/** The menu of a conversation: a native popover, closed by Escape or a click outside. */
export function ConversationMenu({ conversation, button, onPin, onRename, onDelete, onClose }: ConversationMenuProps) {
  const { t } = useTranslation("chat");
  const menu = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const element = menu.current;
    if (!element) return;
    element.showPopover();
    placeAt(element, button);
    element.querySelector("button")?.focus();
  }, [button]);

  const PinIcon = conversation.pinned ? PinOff : Pin;
  const choose = (act: () => void) => () => {
    menu.current?.hidePopover();
    act();
  };
  return (
    <div
      ref={menu}
      popover="auto"
      className={styles.menu}
      onToggle={(event) => {
        if (event.newState !== "closed") return;
        if (document.activeElement === document.body) button.focus();
        onClose();
      }}
    >
      <button type="button" onClick={choose(onPin)}>
        <PinIcon size={16} aria-hidden="true" />
        {t(conversation.pinned ? "list.unpin" : "list.pin")}
      </button>
      <button type="button" onClick={choose(onRename)}>
        <Pencil size={16} aria-hidden="true" />
        {t("list.rename")}
      </button>
      <button type="button" onClick={choose(onDelete)}>
        <Trash2 size={16} aria-hidden="true" />
        {t("conversations.deleteAction")}
      </button>
    </div>
  );
}
