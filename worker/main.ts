/** The worker process: `npm run start:worker`, any number of times on any number of machines. */
import { readConfigOrExit } from "#server/config.ts";
import { assertFitOrExit } from "#server/db/verify.ts";
import { createDeps } from "#server/deps.ts";
import { armFaultPoint } from "#server/fault-points.ts";
import { exitWithParent, givenEnvironment, signalReady } from "#server/process.ts";
import { connectionsNeeded, poolFault } from "./slots.ts";
import { startWorker } from "./worker.ts";

const given = readConfigOrExit(await givenEnvironment());
const config = { ...given, databasePoolSize: given.databasePoolSize ?? connectionsNeeded };
const fault = poolFault(config.databasePoolSize);
if (fault !== undefined) {
  console.error(fault);
  process.exit(1);
}
const deps = createDeps(config, "worker");
await assertFitOrExit(deps.pool);
armFaultPoint(config.faultPoint);
const worker = startWorker(deps);

exitWithParent(async () => {
  await worker.close();
  await deps.close();
});
signalReady();
