import type { RefObject } from "react";
import { useEffect } from "react";

/**
 * Writes the height of a bar at the bottom of the screen into a custom property of the page. tokens.css adds these heights up,
 * so that the page ends above the bars, focused elements scroll clear of them, and floating parts sit on top of them.
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
