import type { ComponentType } from "react";
import { useEffect, useState } from "react";
import { untilIdle } from "#client/lib/until-idle.ts";

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
    let timer: ReturnType<typeof setTimeout> | undefined;
    const fetchPart = () => {
      if (!current) return;
      load().then(
        (part) => current && setPart(() => part),
        () => {
          if (current) timer = setTimeout(fetchPart, retryMs);
        },
      );
    };
    void untilIdle().then(fetchPart);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [load]);

  return Part && <Part {...(props as unknown as Props)} />;
}
