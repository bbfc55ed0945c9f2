/** The client as it is served, built into a folder of the test's own. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { root } from "./sources.ts";

export async function buildClient(folder: string): Promise<void> {
  const options = ["client/build.ts", "--out-dir", folder];
  await promisify(execFile)(process.execPath, options, { cwd: root, env: { ...process.env, NODE_ENV: "production" } });
}
