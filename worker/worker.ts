import type { Deps } from "#server/deps.ts";
import { followSwitches } from "#server/features/catalogue/switches.ts";
import { startClipRunner } from "#server/features/generations/clip-runner.ts";
import { followSettings } from "#server/features/settings/follow.ts";
import { createJobConsumer, createJobPublisher } from "#server/queue/connection.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { processors } from "./processors/all.ts";
import { startRelay } from "./relay.ts";
import { runJob } from "./run-job.ts";
import { startSchedules } from "./schedules.ts";
import { slots } from "./slots.ts";

/** How long running jobs and sweeps may take to finish when the worker stops. After that another worker takes them over. */
const closeDeadlineMs = 8_000;
/** When stopping, calls to Stripe that take longer are cancelled, so that their jobs can still be put back. */
const stripeGraceMs = 4_000;

export interface RunningWorker {
  close(): Promise<void>;
}

/** Relay, jobs, schedules and clips of one worker process; start as many as needed. */
export function startWorker(deps: Deps): RunningWorker {
  const publisher = createJobPublisher(deps.config);
  const heartbeat = createHeartbeat(deps.config.workerHealthFile, deps.log);
  const relay = startRelay(deps.db, publisher, deps.log, heartbeat.beat);
  const consumer = createJobConsumer(deps.config, slots, async (job) => {
    await runJob(deps, processors, job);
    // Publishes what the job wrote to the outbox (a mail, for example) without waiting for the next poll.
    relay.wake();
  });
  const schedules = startSchedules(deps);
  const clips = startClipRunner(deps);
  const following = Promise.all([followSwitches(deps), followSettings(deps)]);
  return {
    async close() {
      const cutOff = setTimeout(() => deps.endStripeCalls(), stripeGraceMs);
      await Promise.all([relay.stop(), schedules.stop(closeDeadlineMs), clips.stop(closeDeadlineMs), consumer.close(closeDeadlineMs)]);
      clearTimeout(cutOff);
      for (const stop of await following) stop();
      await Promise.all([publisher.close(), heartbeat.stop()]);
    },
  };
}
