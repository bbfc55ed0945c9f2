/** The production build of the client. */
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { root } from "./sources.ts";

/** The folder of the build; tests only read it. */
export const clientFolder = path.join(root, "client/dist");

/** Builds the client if its sources have changed. `npm test` does this before the first test. */
export async function buildClient(): Promise<void> {
  await promisify(execFile)(process.execPath, ["client/build.ts", "--when-stale"], {
    cwd: root,
    env: { ...process.env, NODE_ENV: "production" },
  });
}
