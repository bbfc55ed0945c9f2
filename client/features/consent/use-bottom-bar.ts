import type { RefObject } from "react";
import { useEffect } from "react";

/**
 * Gives the page `--bottom-inset`, the height of what stands over its foot: the page ends above it, the focus is scrolled
 * clear of it, and what floats stands on top of it.
 */
export function useBottomBar(bar: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = bar.current;
    if (!element) return;
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() =>
      style.setProperty("--bottom-inset", `${Math.ceil(element.getBoundingClientRect().height)}px`),
    );
    observer.observe(element, { box: "border-box" });
    return () => {
      observer.disconnect();
      style.removeProperty("--bottom-inset");
    };
  }, [bar]);
}
