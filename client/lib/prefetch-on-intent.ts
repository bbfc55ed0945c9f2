import { useEffect } from "react";

/** How long the pointer must rest on a link; a pointer that only crosses it is faster. */
const restMs = 65;

interface Connection {
  saveData?: boolean;
}

/** The path of the product's link under the event, if there is one. */
function addressAt(event: Event): string | undefined {
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!(link instanceof HTMLAnchorElement) || link.origin !== location.origin || link.target === "_blank") return undefined;
  return link.pathname;
}

/**
 * Fetches the page of a link before it is opened: when the pointer rests on it, it gets keyboard focus or a finger touches it.
 * Does nothing if the browser is set to save data. Returns a function that stops it.
 */
function prefetchOnIntent(prefetch: (pathname: string) => void): () => void {
  const { connection } = navigator as Navigator & { connection?: Connection };
  if (connection?.saveData) return () => undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onRest = (event: Event) => {
    clearTimeout(timer);
    const address = addressAt(event);
    if (address) timer = setTimeout(prefetch, restMs, address);
  };
  const onTouch = (event: Event) => {
    const address = addressAt(event);
    if (address) prefetch(address);
  };
  // React stops events in content that sleeps before they bubble up.
  const quietly = { passive: true, capture: true } as const;
  addEventListener("pointerover", onRest, quietly);
  addEventListener("focusin", onTouch, quietly);
  addEventListener("touchstart", onTouch, quietly);
  return () => {
    clearTimeout(timer);
    removeEventListener("pointerover", onRest, quietly);
    removeEventListener("focusin", onTouch, quietly);
    removeEventListener("touchstart", onTouch, quietly);
  };
}

export function usePrefetchOnIntent(prefetch: (pathname: string) => void): void {
  useEffect(() => prefetchOnIntent(prefetch), [prefetch]);
}
