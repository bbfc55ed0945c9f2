/** The API process: `npm run start:api`, any number of times on any number of machines. */
import { buildApp } from "./app.ts";
import { readConfigOrExit } from "./config.ts";
import { assertMigrated, assertRestrictedRole } from "./db/verify.ts";
import { createDeps } from "./deps.ts";
import { exitWithParent, signalReady } from "./embedded/child.ts";
import { armFaultPoint } from "./fault-points.ts";

const config = readConfigOrExit(process.env);
const deps = createDeps(config, "api");
await assertRestrictedRole(deps.pool);
await assertMigrated(deps.pool);
armFaultPoint(config.faultPoint);
const app = await buildApp(deps);

exitWithParent(async () => {
  await app.close();
  await deps.close();
});

await app.listen({ host: config.host, port: config.port });
signalReady();
