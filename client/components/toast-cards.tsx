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
    <li className={classNames(styles.toast, styles[toast.tone])} data-toast>
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

/** The toasts of a region. Fetched once the page is idle. */
export function ToastCards({ toasts }: { toasts: readonly Toast[] }) {
  return toasts.map((toast) => <ToastCard key={toast.id} toast={toast} />);
}
