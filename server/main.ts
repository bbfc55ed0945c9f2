/** The API process: `npm run start:api`, any number of times on any number of machines. */
import { buildApp } from "./app.ts";
import { readConfigOrExit } from "./config.ts";
import { assertFitOrExit } from "./db/verify.ts";
import { createDeps } from "./deps.ts";
import { exitWithParent, signalReady } from "./embedded/child.ts";
import { armFaultPoint } from "./fault-points.ts";
import { ensureCatalogue } from "./features/billing/stripe-catalogue.ts";

const config = readConfigOrExit(process.env);
const deps = createDeps(config, "api");
await assertFitOrExit(deps.pool);
armFaultPoint(config.faultPoint);
const app = await buildApp(deps);

exitWithParent(async () => {
  await app.close();
  await deps.close();
});

try {
  await app.listen({ host: config.host, port: config.port });
} catch (error) {
  console.error(`HOST=${config.host} PORT=${config.port}: cannot listen there (${(error as NodeJS.ErrnoException).code}); set another one`);
  process.exit(1);
}
signalReady();
// What is sold, made at Stripe where it is missing. Stripe away is no reason not to start: the first checkout tries again.
ensureCatalogue(deps).catch((error: unknown) => deps.log.warn({ err: error }, "the catalogue could not be read from Stripe yet"));
