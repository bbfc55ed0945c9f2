import type { RefObject } from "react";
import { useEffect } from "react";

/**
 * Gives the element `--visible-height`, the height that the on-screen keyboard leaves: Safari lays its keyboard over the
 * page instead of shrinking it, and would cover the composer.
 */
export function useVisibleHeight(element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const viewport = window.visualViewport;
    if (!viewport) return;
    const apply = () => {
      const covered = window.innerHeight - viewport.height * viewport.scale;
      // Without a keyboard the style sheet knows better; a zoomed page is not a covered one.
      if (covered > 100) {
        element.current?.style.setProperty("--visible-height", `${viewport.height}px`);
        scrollTo(0, 0);
      } else element.current?.style.removeProperty("--visible-height");
    };
    viewport.addEventListener("resize", apply);
    return () => viewport.removeEventListener("resize", apply);
  }, [element]);
}
