import type pg from "pg";
import type { Clock } from "#domain/clock.ts";
import { wallClock } from "#domain/clock.ts";

export interface BusinessClock extends Clock {
  /** Reads the offset now instead of at the next tick. */
  refresh(): Promise<void>;
  close(): void;
}

/** Every process has seen a move of the clock after this long (the sandbox waits for it before it answers). */
export const clockPollMs = 100;

/**
 * Business time. Outside the sandbox it is wall time. In the sandbox it runs ahead by `business_clock.offset_ms`, which
 * every process reads ten times a second: bounded staleness, and nothing to lose.
 */
export function createBusinessClock(pool: pg.Pool, sandbox: boolean): BusinessClock {
  if (!sandbox) return { ...wallClock, refresh: async () => {}, close: () => {} };
  let offsetMs = 0;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const result = await pool.query<{ offset_ms: number }>("select offset_ms from business_clock");
    offsetMs = Math.max(offsetMs, result.rows[0]?.offset_ms ?? 0);
  }
  function refresh(): Promise<void> {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  }
  const timer = setInterval(() => void refresh().catch(() => {}), clockPollMs);
  timer.unref();
  void refresh().catch(() => {});
  return { now: () => new Date(Date.now() + offsetMs), refresh, close: () => clearInterval(timer) };
}
