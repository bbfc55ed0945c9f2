import { X } from "lucide-react";
import { useEffect, useId } from "react";
import { useTranslation } from "react-i18next";
import { create } from "zustand";
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

/** The regions there are, the innermost last: while a modal dialog is open nothing outside it can be seen clearly or reached. */
const useRegions = create<{ ids: readonly string[] }>(() => ({ ids: [] }));

function useIsInnermost(): boolean {
  const id = useId();
  useEffect(() => {
    useRegions.setState(({ ids }) => ({ ids: [...ids, id] }));
    return () => useRegions.setState(({ ids }) => ({ ids: ids.filter((other) => other !== id) }));
  }, [id]);
  return useRegions(({ ids }) => ids.at(-1) === id);
}

/** Stands in the page from the start, and in every modal dialog, so that what is put into it is read out. */
export function ToastRegion({ inDialog = false }: { inDialog?: boolean }) {
  const { t } = useTranslation("common");
  const toasts = useInterface((state) => state.toasts);
  const innermost = useIsInnermost();
  const Element = inDialog ? "div" : "section";
  return (
    <Element
      className={classNames(styles.region, inDialog && styles.inDialog)}
      aria-label={inDialog ? undefined : t("notifications")}
      aria-live="polite"
    >
      <ol className={styles.list}>{innermost && toasts.map((toast) => <ToastCard key={toast.id} toast={toast} />)}</ol>
    </Element>
  );
}
