import type { ReactNode } from "react";
import { useEffect, useRef } from "react";

/** The heading of a step that replaced another. The focused element is gone, so the heading gets the focus and is read out. */
export function StepHeading({ children }: { children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
