/** The client as it is served. */
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { root } from "./sources.ts";

/** Where the build is; tests only read it. */
export const clientFolder = path.join(root, "client/dist");

/** Builds it where its sources have changed: `npm test` has done so before any test begins. */
export async function buildClient(): Promise<void> {
  await promisify(execFile)(process.execPath, ["client/build.ts", "--when-stale"], {
    cwd: root,
    env: { ...process.env, NODE_ENV: "production" },
  });
}
