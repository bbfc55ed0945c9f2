import type { ReactNode } from "react";
import { useEffect, useRef } from "react";

/** The heading of a step that took another's place: what had the focus is gone, so it goes here and is read out. */
export function StepHeading({ children }: { children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
