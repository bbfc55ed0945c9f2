import { X } from "lucide-react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import type { Toast } from "#client/lib/interface-store.ts";
import { useInterface } from "#client/lib/interface-store.ts";
import { Button, IconButton } from "./button.tsx";
import { classNames } from "./class-names.ts";
import styles from "./toast-region.module.css";

const shownMs = 7_000;

function ToastCard({ toast }: { toast: Toast }) {
  const { t } = useTranslation("common");
  const dismiss = useInterface((state) => state.dismissToast);

  useEffect(() => {
    if (toast.action) return;
    const timer = setTimeout(() => dismiss(toast.id), shownMs);
    return () => clearTimeout(timer);
  }, [toast, dismiss]);

  return (
    <li className={classNames(styles.toast, styles[toast.tone])}>
      <div className={styles.text}>
        <p className={styles.title}>{toast.title}</p>
        {toast.text && <p>{toast.text}</p>}
        {toast.action && (
          <Button
            size="small"
            className={styles.action}
            onClick={() => {
              toast.action?.run();
              dismiss(toast.id);
            }}
          >
            {toast.action.label}
          </Button>
        )}
      </div>
      <IconButton label={t("close")} onClick={() => dismiss(toast.id)}>
        <X size={18} aria-hidden="true" />
      </IconButton>
    </li>
  );
}

/** Stands in the page from the start, so that what is put into it is read out. */
export function ToastRegion() {
  const { t } = useTranslation("common");
  const toasts = useInterface((state) => state.toasts);
  return (
    <section className={styles.region} aria-label={t("notifications")} aria-live="polite">
      <ol className={styles.list}>
        {toasts.map((toast) => (
          <ToastCard key={toast.id} toast={toast} />
        ))}
      </ol>
    </section>
  );
}
