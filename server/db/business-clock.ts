import pg from "pg";
import type { Clock } from "#domain/clock.ts";
import { wallClock } from "#domain/clock.ts";

export interface BusinessClock extends Clock {
  /** Calls the listener after the sandbox has moved the clock; never in production. */
  onMove(listener: () => void): void;
  close(): Promise<void>;
}

/**
 * Every process notices a move of the clock within this time even if the notification is lost. The sandbox waits this long
 * before it answers.
 */
const clockPollMs = 200;
export const clockChannel = "tessera_clock";

/**
 * Business time. Outside the sandbox it is wall time. In the sandbox it is ahead of wall time by `business_clock.offset_ms`.
 * Every process is notified of a change and also polls, so that a lost notification only causes a short delay.
 */
export function createBusinessClock(pool: pg.Pool, databaseUrl: string, sandbox: boolean): BusinessClock {
  if (!sandbox) return { ...wallClock, onMove: () => {}, close: async () => {} };
  const listeners: (() => void)[] = [];
  let offsetMs = 0;

  function move(next: number): void {
    if (!(next > offsetMs)) return;
    offsetMs = next;
    for (const listener of listeners) listener();
  }
  async function read(): Promise<void> {
    const result = await pool.query<{ offset_ms: number }>("select offset_ms from business_clock");
    move(result.rows[0]?.offset_ms ?? 0);
  }
  const notified = new pg.Client({ connectionString: databaseUrl, application_name: "tessera clock", keepAlive: true });
  notified.on("error", () => {});
  notified.on("notification", (message) => move(Number(message.payload)));
  const listening = notified.connect().then(
    () => notified.query(`listen ${clockChannel}`),
    () => undefined,
  );
  const timer = setInterval(() => void read().catch(() => {}), clockPollMs);
  timer.unref();
  void read().catch(() => {});
  return {
    now: () => new Date(Date.now() + offsetMs),
    onMove: (listener) => listeners.push(listener),
    async close() {
      clearInterval(timer);
      await listening.catch(() => {});
      await notified.end().catch(() => {});
    },
  };
}
