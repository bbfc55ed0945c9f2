/** The API process as server/main.ts starts it, serving the client built into the folder named. */
import { pathToFileURL } from "node:url";
import { buildApp } from "#server/app.ts";
import { readConfig } from "#server/config.ts";
import { createDeps } from "#server/deps.ts";
import { exitWithParent } from "#server/embedded/child.ts";

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
