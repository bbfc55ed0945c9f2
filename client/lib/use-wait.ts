import { useCallback, useEffect, useState } from "react";

export interface Wait {
  /** Seconds until the server accepts another try; 0 if it does now. */
  seconds: number;
  start: (seconds: number) => void;
}

function endOf(seconds: number): number | undefined {
  return seconds > 0 ? Date.now() + seconds * 1_000 : undefined;
}

/** Counts down by the clock, so that the remaining time is right after the device was asleep. */
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
