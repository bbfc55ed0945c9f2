import { useCallback, useEffect, useRef } from "react";

/**
 * After an act the row that had the focus may be gone: the page's heading has it then, once `list` was read again. Call what it returns after
 * each act.
 */
export function useFocusAfterAct(list: unknown): () => void {
  const hasActed = useRef(false);
  useEffect(() => {
    const isFocusLost = hasActed.current && document.activeElement === document.body;
    hasActed.current = false;
    const heading = document.querySelector<HTMLElement>("main h1");
    if (!isFocusLost || !heading || list === undefined) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }, [list]);
  return useCallback(() => {
    hasActed.current = true;
  }, []);
}
