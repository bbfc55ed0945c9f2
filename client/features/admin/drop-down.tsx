import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import styles from "./drop-down.module.css";

interface DropDownProps {
  label: ReactNode;
  /** `close` is for what is chosen once: it closes the list and leaves the focus at the label. */
  children: (close: () => void) => ReactNode;
}

/** A button that opens a list below it. Escape closes it, and so do a press and the focus anywhere else. */
export function DropDown({ label, children }: DropDownProps) {
  const whole = useRef<HTMLDetailsElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const shut = () => whole.current?.removeAttribute("open");
  const close = () => {
    whole.current?.querySelector("summary")?.focus();
    shut();
  };

  useEffect(() => {
    const onPress = ({ target }: PointerEvent) => {
      if (target instanceof Node && !whole.current?.contains(target)) whole.current?.removeAttribute("open");
    };
    document.addEventListener("pointerdown", onPress);
    return () => document.removeEventListener("pointerdown", onPress);
  }, []);

  /** Where the list would leave the window, it ends where the label ends. */
  const place = () => {
    const element = content.current;
    if (!element) return;
    element.dataset.side = "start";
    if (element.getBoundingClientRect().right > document.documentElement.clientWidth) element.dataset.side = "end";
  };

  return (
    <details
      ref={whole}
      className={styles.whole}
      onToggle={place}
      // Safari gives a pressed button no focus, so that none is known here.
      onBlur={({ relatedTarget }) => relatedTarget && !whole.current?.contains(relatedTarget) && shut()}
      onKeyDown={({ key }) => key === "Escape" && close()}
    >
      <summary className={styles.label}>{label}</summary>
      <div ref={content} className={styles.content}>
        {children(close)}
      </div>
    </details>
  );
}
