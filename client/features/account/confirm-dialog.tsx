import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import type { Refusal } from "#client/components/use-refusal.tsx";
import styles from "./account.module.css";

interface ConfirmDialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  action: { label: string; busyLabel: string; busy: boolean; run: () => void };
  refusal: Pick<Refusal, "note" | "waitSeconds">;
  /** What happens. */
  children: ReactNode;
}

/** Asks before something that can't be undone. */
export function ConfirmDialog({ open, onClose, title, action, refusal, children }: ConfirmDialogProps) {
  const { t } = useTranslation("common");
  const actions = (
    <>
      <Button onClick={onClose}>{t("cancel")}</Button>
      <Button variant="danger" busy={action.busy} busyLabel={action.busyLabel} aria-disabled={refusal.waitSeconds > 0} onClick={action.run}>
        {action.label}
      </Button>
    </>
  );
  return (
    <Dialog open={open} onClose={onClose} title={title} actions={actions}>
      <div className={styles.form}>
        <p>{children}</p>
        {refusal.note}
      </div>
    </Dialog>
  );
}
