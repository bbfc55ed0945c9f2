/** The API process (`npm run start:api`). Any number of them may run, on any number of machines. */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { buildApp } from "./app.ts";
import { apiConnectionsNeeded, apiPoolSize, readConfigOrExit } from "./config.ts";
import { assertFitOrExit } from "./db/verify.ts";
import { createDeps } from "./deps.ts";
import { armFaultPoint } from "./fault-points.ts";
import { ensureCatalogue } from "./features/billing/stripe-catalogue.ts";
import { exitWithParent, givenEnvironment, signalReady } from "./process.ts";

const config = readConfigOrExit(await givenEnvironment());
const { databasePoolSize = apiPoolSize } = config;
if (databasePoolSize < apiConnectionsNeeded) {
  console.error(`DATABASE_POOL_SIZE=${databasePoolSize} is too small for an API: its statements need ${apiConnectionsNeeded} connections`);
  process.exit(1);
}
const deps = createDeps(config, "api");
await assertFitOrExit(deps.pool);
armFaultPoint(config.faultPoint);
const app = await buildApp(deps, config.clientDir === undefined ? undefined : pathToFileURL(path.join(config.clientDir, path.sep)));

/** Time after the drain for ending the answers that still run. */
const lastEndsMs = 8_000;
exitWithParent(async () => {
  await app.drain(config.drainTimeoutMs);
  await app.close();
  await deps.close();
}, config.drainTimeoutMs + lastEndsMs);

try {
  await app.listen({ host: config.host, port: config.port });
} catch (error) {
  console.error(`HOST=${config.host} PORT=${config.port}: cannot listen there (${(error as NodeJS.ErrnoException).code}); set another one`);
  process.exit(1);
}
signalReady();
// Creates missing products and prices at Stripe. The API starts even if Stripe can't be reached: the first checkout tries again.
ensureCatalogue(deps).catch((error: unknown) =>
  deps.log.warn({ err: error }, "the catalogue could not be read from Stripe or created there; the first checkout tries again"),
);
