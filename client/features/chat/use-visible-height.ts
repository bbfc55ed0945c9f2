import { useEffect } from "react";

/**
 * Sets `--visible-height` on the page: the height above the on-screen keyboard. Safari doesn't shrink the page for its keyboard, which
 * would cover the composer.
 */
export function useVisibleHeight(): void {
  useEffect(() => {
    const viewport = window.visualViewport;
    if (!viewport) return;
    const apply = () => {
      const covered = window.innerHeight - viewport.height * viewport.scale;
      // Without a keyboard the style sheet sets the height. A zoomed page has a smaller viewport too, but no keyboard.
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
