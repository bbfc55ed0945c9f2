/**
 * `npm start` and `npm run dev`. Imports only what it needs to find the bundle, so that no code is loaded twice, from sources and bundle.
 */
import { enableCompileCache } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { findBundle, isWritable } from "./server-bundle.ts";

const { values } = parseArgs({ options: { dev: { type: "boolean", default: false } } });
const bundle = values.dev ? undefined : await findBundle();
// The processes that are started get the variable, too. The cache is removed with the bundle it belongs to.
if (bundle !== undefined && isWritable(bundle) && !process.env.NODE_COMPILE_CACHE) {
  process.env.NODE_COMPILE_CACHE = path.join(bundle, "compile-cache");
  enableCompileCache(process.env.NODE_COMPILE_CACHE);
}
const entry = bundle === undefined ? new URL("./run.ts", import.meta.url) : pathToFileURL(path.join(bundle, "run.mjs"));
const { run } = (await import(entry.href)) as typeof import("./run.ts");
await run(values.dev, bundle);
