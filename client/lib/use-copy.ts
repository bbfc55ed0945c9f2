import { useEffect, useState } from "react";

const shownMs = 2_000;

export type CopyState = "idle" | "copied" | "failed";

/** Copies a text. `state` says for a moment whether it worked, so that the button can show it. */
export function useCopy(): { state: CopyState; copy: (text: string) => void } {
  const [state, setState] = useState<CopyState>("idle");

  useEffect(() => {
    if (state === "idle") return;
    const timer = setTimeout(() => setState("idle"), shownMs);
    return () => clearTimeout(timer);
  }, [state]);

  const copy = (text: string) => {
    // Without a secure context the browser has no clipboard.
    const writing = navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject(new Error("no clipboard"));
    writing.then(
      () => setState("copied"),
      () => setState("failed"),
    );
  };
  return { state, copy };
}
