import type { RefObject } from "react";
import { useCallback, useEffect, useRef, useState } from "react";

/** Focuses a panel's heading after the focused button has gone: in an effect, so that an open dialog has closed by then. */
export function useHeadingFocus(): { heading: RefObject<HTMLHeadingElement | null>; focusHeading: () => void } {
  const heading = useRef<HTMLHeadingElement>(null);
  const [times, setTimes] = useState(0);
  useEffect(() => {
    if (times > 0) heading.current?.focus();
  }, [times]);
  return { heading, focusHeading: useCallback(() => setTimes((before) => before + 1), []) };
}
