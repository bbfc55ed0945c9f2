import { useCallback, useEffect, useRef } from "react";

/**
 * After an act the row that had the focus may be gone. Once `list` has been read again, this moves the focus to the page's heading. Call
 * the returned function after each act.
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
