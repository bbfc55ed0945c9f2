import type { ComponentType } from "react";
import { useEffect, useState } from "react";

const retryMs = 5_000;

type LateProps<Props> = { load: () => Promise<ComponentType<Props>> } & Props;

/**
 * Renders a part that the first paint doesn't need, once the page is idle, and passes it all props except `load`. If the part
 * can't be fetched, it renders nothing until it can.
 */
export function Late<Props extends object>({ load, ...props }: LateProps<Props>) {
  const [Part, setPart] = useState<ComponentType<Props> | null>(null);

  useEffect(() => {
    let current = true;
    const fetchPart = () => {
      load().then(
        (part) => current && setPart(() => part),
        () => {
          if (current) timer = setTimeout(fetchPart, retryMs);
        },
      );
    };
    // Safari has no requestIdleCallback.
    let timer = "requestIdleCallback" in window ? undefined : setTimeout(fetchPart, 400);
    const idle = timer === undefined ? requestIdleCallback(fetchPart, { timeout: 3_000 }) : undefined;
    return () => {
      current = false;
      clearTimeout(timer);
      if (idle !== undefined) cancelIdleCallback(idle);
    };
  }, [load]);

  return Part && <Part {...(props as unknown as Props)} />;
}
