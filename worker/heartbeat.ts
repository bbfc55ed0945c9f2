/** The date of a file says when this worker's relay last read the outbox; scripts/worker-health.ts goes by it. */
import { rm, writeFile } from "node:fs/promises";
import type { Logger } from "#server/deps.ts";

const everyMs = 1_000;

export interface Heartbeat {
  beat(): void;
  stop(): Promise<void>;
}

export function createHeartbeat(file: string | undefined, log: Logger): Heartbeat {
  let last = 0;
  let writing: Promise<void> = Promise.resolve();
  return {
    beat() {
      if (file === undefined || Date.now() - last < everyMs) return;
      last = Date.now();
      writing = writeFile(file, "").catch((error: unknown) => log.warn({ err: error }, "WORKER_HEALTH_FILE cannot be written"));
    },
    async stop() {
      await writing;
      if (file !== undefined) await rm(file, { force: true });
    },
  };
}
