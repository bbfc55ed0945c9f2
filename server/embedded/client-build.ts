/** Builds the client if its sources have changed since the last build. */
import { fork } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { StartError } from "../start-error.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Resolves to the folder of the built client: in the checkout, or in the data folder if the checkout is read-only. The last
 * build stays in place until the new one is complete.
 */
export function buildClientWhenStale(dataDir: string, log: (line: string) => void, signal: AbortSignal): Promise<string> {
  const child = fork(path.join(root, "client/build.ts"), ["--when-stale", "--spare-dir", path.join(dataDir, "client")], {
    cwd: root,
    env: { ...process.env, NODE_ENV: "production" },
    execArgv: [],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    signal,
  });
  let building = false;
  let errors = "";
  let folder: string | undefined;
  child.stdout?.on("data", () => {
    // The program prints only if it builds. We don't show the bundler's output; `npm run build` does.
    if (!building) log("building the client …");
    building = true;
  });
  child.stderr?.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  child.on("message", (message) => {
    ({ folder } = message as { folder: string });
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 && folder !== undefined ? resolve(folder) : reject(new StartError(`the client cannot be built:\n${errors.trim()}`)),
    );
  });
}
