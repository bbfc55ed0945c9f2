import { useEffect, useState } from "react";

/** Seconds until `atMs`, updated every second. */
export function useSecondsUntil(atMs: number): number {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}
