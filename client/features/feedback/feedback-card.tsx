import { X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { classNames } from "#client/components/class-names.ts";
import { useFootBar } from "#client/lib/use-foot-bar.ts";
import styles from "./feedback.module.css";
import { endFeedback, openFeedback } from "./feedback-store.ts";

/** The card at the bottom left of the window; on a phone a bar. It hides while it would cover the focused element. */
export function FeedbackCard() {
  const { t } = useTranslation(["feedback", "common"]);
  const card = useRef<HTMLElement>(null);
  const aside = useCoversFocus(card);
  useFootBar(card, "--feedback-height");

  function dismiss(): void {
    if (card.current?.contains(document.activeElement)) document.getElementById("content")?.focus({ preventScroll: true });
    endFeedback();
  }

  return (
    <aside ref={card} className={classNames(styles.card, aside && styles.away)} aria-labelledby="feedback-title">
      <h2 id="feedback-title" className={styles.title}>
        {t("card.title")}
      </h2>
      <p className={styles.text}>{t("card.text")}</p>
      <div className={styles.actions}>
        <Button size="small" onClick={openFeedback}>
          {t("card.give")}
        </Button>
        <Button size="small" variant="quiet" onClick={dismiss}>
          {t("card.dismiss")}
        </Button>
      </div>
      <IconButton label={t("common:close")} className={styles.close} onClick={dismiss}>
        <X size={18} aria-hidden="true" />
      </IconButton>
    </aside>
  );
}

function overlap(one: DOMRect, other: DOMRect): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

/** True while the card would cover the focused element, such as a field at the bottom of the window. */
function useCoversFocus(card: { current: HTMLElement | null }): boolean {
  const [aside, setAside] = useState(false);
  useEffect(() => {
    const look = () => {
      const { activeElement: focused } = document;
      const element = card.current;
      // A dialog is above the card, and on its way out it gives the focus back to the card's button, which must not be hidden then.
      const isClear = !focused || focused === document.body || focused.id === "content" || focused.closest("dialog") !== null;
      if (!element || isClear || element.contains(focused)) setAside(false);
      else setAside(overlap(element.getBoundingClientRect(), focused.getBoundingClientRect()));
    };
    // Wait a frame, because the browser first scrolls to the focused element.
    const lookSoon = () => void requestAnimationFrame(look);
    look();
    addEventListener("focusin", lookSoon);
    addEventListener("focusout", lookSoon);
    return () => {
      removeEventListener("focusin", lookSoon);
      removeEventListener("focusout", lookSoon);
    };
  }, [card]);
  return aside;
}
