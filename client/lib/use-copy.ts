import { useEffect, useState } from "react";

const shownMs = 2_000;

export type CopyState = "idle" | "copied" | "failed";

/** Copies a text, and knows for a moment how that went, so that it can be said where it was pressed. */
export function useCopy(): { state: CopyState; copy: (text: string) => void } {
  const [state, setState] = useState<CopyState>("idle");

  useEffect(() => {
    if (state === "idle") return;
    const timer = setTimeout(() => setState("idle"), shownMs);
    return () => clearTimeout(timer);
  }, [state]);

  const copy = (text: string) => {
    // Without a secure context there is no clipboard at all.
    const writing = navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject(new Error("no clipboard"));
    writing.then(
      () => setState("copied"),
      () => setState("failed"),
    );
  };
  return { state, copy };
}
