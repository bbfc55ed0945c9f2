/**
 * A container's health check: exits with 0 if this container's worker has read the outbox in the last seconds. The worker's relay
 * reads it several times a second and then touches a file. We don't look for the worker's connections at PostgreSQL, because
 * other processes may use the same address or pooler. Run `node scripts/worker-health.ts`.
 */
import { stat } from "node:fs/promises";

const silentAfterMs = 15_000;

const file = process.env.WORKER_HEALTH_FILE;
const beat = file ? await stat(file).catch(() => undefined) : undefined;
if (beat === undefined || Date.now() - beat.mtimeMs > silentAfterMs) {
  console.error(
    file
      ? `this worker has not read the outbox for ${silentAfterMs / 1_000} s (WORKER_HEALTH_FILE=${file})`
      : "WORKER_HEALTH_FILE is missing",
  );
  process.exitCode = 1;
}
