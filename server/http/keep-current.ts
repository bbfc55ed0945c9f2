import type { LiveEvent, LiveEvents } from "./live-events.ts";

interface Kept {
  /** Reads from the database what this process keeps in memory. */
  read: () => Promise<void>;
  /** Whether the event says that it changed. */
  concerns: (event: LiveEvent) => boolean;
  /** How long a change may stay unknown to a process that did not hear of it. */
  everyMs: number;
  /** Logged once, until a reading succeeds again. */
  unreadable: string;
}

/**
 * Keeps rows in memory that every request needs: reads them now, when another process says that they changed, and every `everyMs` in case that
 * was not heard. Returns a function that stops. Never rejects: while they can't be read the last known ones hold.
 */
export async function keepCurrent(
  { live, log }: { live: LiveEvents; log: { warn(details: object, message: string): void } },
  { read, concerns, everyMs, unreadable }: Kept,
): Promise<() => void> {
  let isKnown = true;
  let reading: Promise<void> | undefined;
  const readNow = () => {
    reading ??= read()
      .then(() => {
        isKnown = true;
      })
      .catch((error: unknown) => {
        if (isKnown) log.warn({ err: error }, unreadable);
        isKnown = false;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  /** A change that is announced while the rows are being read may be missing in what is read. */
  const readAfter = () => void (reading ?? Promise.resolve()).then(readNow);
  const unsubscribe = live.subscribe((event) => {
    if (event === "resync" || concerns(event)) readAfter();
  });
  const timer = setInterval(() => void readNow(), everyMs).unref();
  await readNow();
  return () => {
    unsubscribe();
    clearInterval(timer);
  };
}
