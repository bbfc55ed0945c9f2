import type { RefObject } from "react";
import { useEffect } from "react";

/**
 * Gives the page the height of what stands over its foot, under the name of that bar (tokens.css adds them up): the page ends
 * above it, the focus is scrolled clear of it, and what floats stands on top of it.
 */
export function useFootBar(bar: RefObject<HTMLElement | null>, name: "--consent-height" | "--feedback-height"): void {
  useEffect(() => {
    const element = bar.current;
    if (!element) return;
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() => style.setProperty(name, `${Math.ceil(element.getBoundingClientRect().height)}px`));
    observer.observe(element, { box: "border-box" });
    return () => {
      observer.disconnect();
      style.removeProperty(name);
    };
  }, [bar, name]);
}
