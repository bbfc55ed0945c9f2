import { useEffect, useId } from "react";
import { useTranslation } from "react-i18next";
import { create } from "zustand";
import type { Toast } from "#client/lib/interface-store.ts";
import { useInterface } from "#client/lib/interface-store.ts";
import { untilLate } from "#client/lib/until-idle.ts";
import { classNames } from "./class-names.ts";
import { Late } from "./late.tsx";
import styles from "./toast-region.module.css";

const loadCards = async () => (await import("./toast-cards.tsx")).ToastCards;
const loadCardsLate = async () => {
  await untilLate();
  return await loadCards();
};

const none: readonly Toast[] = [];

/** The mounted regions, the innermost last. While a modal dialog is open, nothing outside it is visible or reachable. */
const useRegions = create<{ ids: readonly string[] }>(() => ({ ids: [] }));

function useIsInnermost(): boolean {
  const id = useId();
  useEffect(() => {
    useRegions.setState(({ ids }) => ({ ids: [...ids, id] }));
    return () => useRegions.setState(({ ids }) => ({ ids: ids.filter((other) => other !== id) }));
  }, [id]);
  return useRegions(({ ids }) => ids.at(-1) === id);
}

/** Mounted in the page from the start, and in every modal dialog, because screen readers announce only changes of existing regions. */
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
      <ol className={styles.list}>
        <Late load={toasts.length > 0 ? loadCards : loadCardsLate} toasts={innermost ? toasts : none} />
      </ol>
    </Element>
  );
}
