/**
 * The server's code in a few large files, for `npm start`: Node takes four times as long to load it from its three thousand files. The
 * bundle is made after a start that found none, or an old one, and serves from the next start on. Where the checkout can't be written to
 * there is none, and the sources are used. In production, in development and in the tests of single processes the sources are used, too.
 */
import { fork } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { packageFiles, stampOf } from "./source-stamp.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** Inside node_modules, so that the packages that stay outside of the bundle are found. */
export const bundlesFolder = path.join(root, "node_modules/.cache/tessera-server");

/** Outside of the server's folders, because it needs Vite, which production does not have. */
const bundler = path.join(root, "scripts/bundle-server.ts");

/** What is started from the bundle: the name of its file there, and its source. */
export const bundled = {
  run: "server/embedded/run.ts",
  api: "server/main.ts",
  worker: "worker/main.ts",
  sandbox: "sandbox/main.ts",
} as const;

/** The file to run. */
export function entryOf(name: keyof typeof bundled, bundle: string | undefined): string {
  return bundle === undefined ? path.join(root, bundled[name]) : path.join(bundle, `${name}.mjs`);
}

/** Where the bundle of the sources as they are now is kept. */
export async function bundleFolder(): Promise<string> {
  const sources = ["server", "worker", "sandbox"].map((folder) => path.join(root, folder));
  return path.join(bundlesFolder, await stampOf([...sources, bundler, ...packageFiles]));
}

/** The folder of the bundle, if it is there and up to date. */
export async function findBundle(): Promise<string | undefined> {
  try {
    const folder = await bundleFolder();
    return (await stat(folder)).isDirectory() ? folder : undefined;
  } catch {
    // No bundle, or no file that `npm ci` writes: another program may have installed the packages.
    return undefined;
  }
}

export function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Makes the bundle for the next start in a process of its own. Nobody has to wait for it. */
export function makeBundle(signal: AbortSignal, log: (line: string) => void): void {
  if (!isWritable(path.join(root, "node_modules"))) return;
  const child = fork(bundler, [], {
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    signal,
  });
  let errors = "";
  child.stderr?.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  child.once("error", () => {});
  child.once("close", (code) => {
    if (code !== 0 && !signal.aborted) log(`the server's code could not be bundled, so that a start takes longer:\n${errors.trim()}`);
  });
}
