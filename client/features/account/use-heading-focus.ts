import type { RefObject } from "react";
import { useCallback, useEffect, useRef, useState } from "react";

/** For the heading of a panel: takes the focus when the button that had it is gone, and a dialog before the panel is closed by then. */
export function useHeadingFocus(): { heading: RefObject<HTMLHeadingElement | null>; focusHeading: () => void } {
  const heading = useRef<HTMLHeadingElement>(null);
  const [times, setTimes] = useState(0);
  useEffect(() => {
    if (times > 0) heading.current?.focus();
  }, [times]);
  return { heading, focusHeading: useCallback(() => setTimes((before) => before + 1), []) };
}
