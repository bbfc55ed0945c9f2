import { useEffect } from "react";

/**
 * Gives the page `--visible-height`, the height that the on-screen keyboard leaves: Safari lays its keyboard over the
 * page instead of shrinking it, and would cover the composer.
 */
export function useVisibleHeight(): void {
  useEffect(() => {
    const viewport = window.visualViewport;
    if (!viewport) return;
    const apply = () => {
      const covered = window.innerHeight - viewport.height * viewport.scale;
      // Without a keyboard the style sheet knows better; a zoomed page is not a covered one.
      if (covered > 100) {
        document.documentElement.style.setProperty("--visible-height", `${viewport.height}px`);
        scrollTo(0, 0);
      } else document.documentElement.style.removeProperty("--visible-height");
    };
    viewport.addEventListener("resize", apply);
    return () => {
      viewport.removeEventListener("resize", apply);
      document.documentElement.style.removeProperty("--visible-height");
    };
  }, []);
}
