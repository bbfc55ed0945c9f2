import type { ComponentType } from "react";
import { useEffect, useState } from "react";

/** Draws what no first paint needs once the page has come to rest; where it can't be fetched, nothing. */
export function Late({ load }: { load: () => Promise<ComponentType> }) {
  const [Part, setPart] = useState<ComponentType | null>(null);

  useEffect(() => {
    let current = true;
    const fetchPart = () => {
      load().then(
        (part) => current && setPart(() => part),
        () => undefined,
      );
    };
    // Safari has no idle callback.
    const timer = "requestIdleCallback" in window ? undefined : setTimeout(fetchPart, 400);
    const idle = timer === undefined ? requestIdleCallback(fetchPart, { timeout: 3_000 }) : undefined;
    return () => {
      current = false;
      clearTimeout(timer);
      if (idle !== undefined) cancelIdleCallback(idle);
    };
  }, [load]);

  return Part && <Part />;
}
