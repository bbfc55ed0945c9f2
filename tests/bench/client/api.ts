/** Runs the API process as server/main.ts does and serves the client build in the given folder. */
import { pathToFileURL } from "node:url";
import { buildApp } from "#server/app.ts";
import { readConfig } from "#server/config.ts";
import { createDeps } from "#server/deps.ts";
import { exitWithParent } from "#server/process.ts";

const [folder] = process.argv.slice(2);
const config = readConfig(process.env);
const deps = createDeps(config, "api");
const app = await buildApp(deps, pathToFileURL(`${folder}/`));

exitWithParent(async () => {
  await app.close();
  await deps.close();
});
await app.listen({ host: config.host, port: config.port });
process.send?.({ port: config.port });
