/** Touches a file each time this worker's relay has read the outbox. scripts/worker-health.ts checks the age of that file. */
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
      writing = writeFile(file, "").catch((error: unknown) => log.warn({ err: error }, "cannot write WORKER_HEALTH_FILE"));
    },
    async stop() {
      await writing;
      if (file !== undefined) await rm(file, { force: true });
    },
  };
}
