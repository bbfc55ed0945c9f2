/** The worker process: `npm run start:worker`, any number of times on any number of machines. */
import { readConfigOrExit } from "#server/config.ts";
import { assertFitOrExit } from "#server/db/verify.ts";
import { createDeps } from "#server/deps.ts";
import { exitWithParent, signalReady } from "#server/embedded/child.ts";
import { armFaultPoint } from "#server/fault-points.ts";
import { startWorker } from "./worker.ts";

const config = readConfigOrExit(process.env);
const deps = createDeps(config, "worker");
await assertFitOrExit(deps.pool);
armFaultPoint(config.faultPoint);
const worker = startWorker(deps);

exitWithParent(async () => {
  await worker.close();
  await deps.close();
});
signalReady();
