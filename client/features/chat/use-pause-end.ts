import { useEffect, useState } from "react";
import { useFormat } from "#client/lib/use-format.ts";
import type { OfferedModel } from "./models-store.ts";

/** Longer times are told in whole minutes. */
const minuteMs = 60_000;

/** "in 40 seconds" or "in 2 minutes": when a model that is out of order is tried again. Undefined while it is not, or is being tried. */
export function usePauseEnd({ retryAtMs }: Pick<OfferedModel, "retryAtMs">): string | undefined {
  const { relative } = useFormat();
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    if (retryAtMs === null) return;
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [retryAtMs]);
  const leftMs = (retryAtMs ?? 0) - nowMs;
  if (leftMs <= 0) return undefined;
  const step = leftMs >= minuteMs ? minuteMs : 1_000;
  return relative(new Date(Math.ceil(leftMs / step) * step), new Date(0));
}
