import { useEffect } from "react";

/** Somebody who rests on a link this long means it; a pointer on its way across does not. */
const restMs = 65;

interface Connection {
  saveData?: boolean;
}

/** The address within the product that the event points at, if it points at a link. */
function addressAt(event: Event): string | undefined {
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!(link instanceof HTMLAnchorElement) || link.origin !== location.origin || link.target === "_blank") return undefined;
  return link.pathname;
}

/**
 * Fetches the page of a link before it is followed: when the pointer rests on it, the keyboard comes to it or a finger
 * touches it. Never for people who save data. Returns how to stop.
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
  const quietly = { passive: true } as const;
  addEventListener("pointerover", onRest, quietly);
  addEventListener("focusin", onTouch, quietly);
  addEventListener("touchstart", onTouch, quietly);
  return () => {
    clearTimeout(timer);
    removeEventListener("pointerover", onRest);
    removeEventListener("focusin", onTouch);
    removeEventListener("touchstart", onTouch);
  };
}

/** Draws nothing: it listens while it stands in the page. */
export function PrefetchOnIntent({ prefetch }: { prefetch: (pathname: string) => void }): null {
  useEffect(() => prefetchOnIntent(prefetch), [prefetch]);
  return null;
}
