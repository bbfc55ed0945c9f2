/** Builds the client where its sources have changed since the last build. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { StartError } from "./start-error.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Resolves to whether a build was necessary. The last build stays in place until the new one is whole. */
export function buildClientWhenStale(log: (line: string) => void, signal: AbortSignal): Promise<boolean> {
  const child = spawn(process.execPath, ["client/build.ts", "--when-stale"], {
    cwd: root,
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "pipe"],
    signal,
  });
  let building = false;
  let errors = "";
  child.stdout.on("data", () => {
    // It speaks only where there is something to build; the bundler's own words are for `npm run build`.
    if (!building) log("building the client …");
    building = true;
  });
  child.stderr.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(building) : reject(new StartError(`the client cannot be built:\n${errors.trim()}`)),
    );
  });
}
