import type { RefObject } from "react";
import { useEffect, useState } from "react";

/** Spec §9: the bar hides when scrolling down past this many pixels. */
const hideBelowPx = 100;
/** Smaller movements are an unsteady finger, not scrolling. */
const leastStepPx = 6;

/**
 * Whether the bar is hidden: scrolling down hides it, and scrolling up or a focus inside shows it. It stays while something in
 * it has the focus, or while `held` is true because its menu is open.
 */
export function useHiddenBar(bar: RefObject<HTMLElement | null>, held: boolean): boolean {
  const [hidden, setHidden] = useState(false);

  useEffect(() => {
    let lastY = scrollY;
    const onScroll = () => {
      const y = Math.max(0, scrollY);
      if (y <= hideBelowPx) setHidden(false);
      else if (y > lastY + leastStepPx) setHidden(!bar.current?.contains(document.activeElement));
      else if (y < lastY - leastStepPx) setHidden(false);
      if (Math.abs(y - lastY) > leastStepPx) lastY = y;
    };
    const onFocus = () => setHidden(false);
    const element = bar.current;
    addEventListener("scroll", onScroll, { passive: true });
    element?.addEventListener("focusin", onFocus);
    return () => {
      removeEventListener("scroll", onScroll);
      element?.removeEventListener("focusin", onFocus);
    };
  }, [bar]);

  return hidden && !held;
}
