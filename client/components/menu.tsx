import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import styles from "./menu.module.css";

export interface MenuItem {
  icon: ReactNode;
  label: string;
  act: () => void;
}

interface MenuProps {
  items: readonly MenuItem[];
  /** The button that opened the menu. The menu is placed at it and returns the focus to it. */
  button: HTMLElement;
  onClose: () => void;
}

/** Between the menu and the window's edge, in pixels. */
const edge = 8;

/** Below the button, or above it if there is no room below; with its end at the button's end, if that is within the window. */
function placeAt(menu: HTMLElement, button: HTMLElement): void {
  const [at, own] = [button.getBoundingClientRect(), menu.getBoundingClientRect()];
  const below = at.bottom + own.height <= innerHeight;
  menu.style.setProperty("top", `${Math.max(0, below ? at.bottom : at.top - own.height)}px`);
  menu.style.setProperty("left", `${Math.max(edge, Math.min(at.right, innerWidth - edge) - own.width)}px`);
}

/** A few things that a button can do: a native popover, closed by Escape or a click outside. */
export function Menu({ items, button, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const element = menu.current;
    if (!element) return;
    element.showPopover();
    placeAt(element, button);
    element.querySelector("button")?.focus();
  }, [button]);

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
      {items.map(({ icon, label, act }) => (
        <button key={label} type="button" onClick={choose(act)}>
          {icon}
          {label}
        </button>
      ))}
    </div>
  );
}
