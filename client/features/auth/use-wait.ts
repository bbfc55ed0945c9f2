import { useCallback, useEffect, useState } from "react";

export interface Wait {
  /** Until the server takes another try; 0: it does. */
  seconds: number;
  start: (seconds: number) => void;
}

function endOf(seconds: number): number | undefined {
  return seconds > 0 ? Date.now() + seconds * 1_000 : undefined;
}

/** Counts down by the clock, so that a device that slept comes back to what is left. */
export function useWait(firstSeconds = 0): Wait {
  const [until, setUntil] = useState(() => endOf(firstSeconds));
  const [seconds, setSeconds] = useState(firstSeconds);

  useEffect(() => {
    if (until === undefined) return;
    const timer = setInterval(() => {
      const left = Math.max(0, Math.ceil((until - Date.now()) / 1_000));
      setSeconds(left);
      if (left === 0) setUntil(undefined);
    }, 250);
    return () => clearInterval(timer);
  }, [until]);

  const start = useCallback((waitSeconds: number) => {
    setSeconds(waitSeconds);
    setUntil(endOf(waitSeconds));
  }, []);
  return { seconds, start };
}
