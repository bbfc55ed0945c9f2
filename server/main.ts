/** The API process: `npm run start:api`, any number of times on any number of machines. */
import { buildApp } from "./app.ts";
import { readConfigOrExit } from "./config.ts";
import { assertFitOrExit } from "./db/verify.ts";
import { createDeps } from "./deps.ts";
import { exitWithParent, signalReady } from "./embedded/child.ts";
import { armFaultPoint } from "./fault-points.ts";

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
