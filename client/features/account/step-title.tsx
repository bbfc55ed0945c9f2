import type { ReactNode } from "react";
import { useEffect, useRef } from "react";

/** The title of a step that takes the place of another; it takes the focus, which was on a button that is gone. */
export function StepTitle({ children }: { children: ReactNode }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  return (
    <h3 ref={title} tabIndex={-1}>
      {children}
    </h3>
  );
}
