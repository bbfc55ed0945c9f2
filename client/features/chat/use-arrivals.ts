import { useEffect, useRef, useState } from "react";

/** Files dropped anywhere on the page, and those that are pasted into the prompt. Returns whether files are over the page. */
export function useArrivals(receive: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  const latest = useRef(receive);
  latest.current = receive;
  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    let depth = 0;
    const count = (by: number) => {
      depth = Math.max(depth + by, 0);
      setOver(depth > 0);
    };
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") ?? false;
    addEventListener("dragenter", (event) => hasFiles(event) && count(1), { signal });
    addEventListener("dragleave", (event) => hasFiles(event) && count(-1), { signal });
    // Otherwise the browser would open the file instead of the page.
    addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault(), { signal });
    addEventListener(
      "drop",
      (event) => {
        count(-depth);
        if (!hasFiles(event)) return;
        event.preventDefault();
        latest.current([...(event.dataTransfer?.files ?? [])]);
      },
      { signal },
    );
    addEventListener(
      "paste",
      (event) => {
        const files = [...(event.clipboardData?.files ?? [])];
        if (files.length === 0 || document.querySelector("dialog[open]")) return;
        event.preventDefault();
        latest.current(files);
      },
      { signal },
    );
    return () => ended.abort();
  }, []);
  return isOver;
}
