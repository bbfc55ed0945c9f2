import { X } from "lucide-react";
import type { ReactNode } from "react";
import { useEffect, useId, useRef } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "./button.tsx";
import { classNames } from "./class-names.ts";
import styles from "./dialog.module.css";
import { ToastRegion } from "./toast-region.tsx";

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** `side` slides in from the end of the line; the menu on small screens uses it. */
  placement?: "centre" | "side";
  /** Buttons, the most likely one last. */
  actions?: ReactNode;
  children: ReactNode;
}

/** The browser's own modal dialog: it keeps the focus inside, closes on Escape and gives the focus back. */
export function Dialog({ open, onClose, title, placement = "centre", actions, children }: DialogProps) {
  const { t } = useTranslation("common");
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  useEffect(() => {
    const element = dialog.current;
    if (!element) return;
    if (open && !element.open) element.showModal();
    if (!open && element.open) element.close();
  }, [open]);

  return (
    // A click on the backdrop has the dialog element as its target. Keyboard users have Escape.
    <dialog
      ref={dialog}
      className={classNames(styles.dialog, styles[placement])}
      aria-labelledby={titleId}
      // A dialog opened inside this one fires its own close event, which React lets bubble up to here.
      onClose={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
      onPointerDown={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      {open && (
        <div className={styles.sheet}>
          <div className={styles.header}>
            <h2 className={styles.title} id={titleId}>
              {title}
            </h2>
            <IconButton label={t("close")} onClick={onClose}>
              <X size={20} aria-hidden="true" />
            </IconButton>
          </div>
          <div className={styles.body}>{children}</div>
          {actions && <div className={styles.actions}>{actions}</div>}
          <ToastRegion inDialog />
        </div>
      )}
    </dialog>
  );
}
