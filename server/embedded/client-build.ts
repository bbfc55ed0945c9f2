/** Builds the client if its sources have changed since the last build. */
import { fork } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { StartError } from "../start-error.ts";
import { packageFiles, stampOf } from "./source-stamp.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What the last start wrote down about its build. */
interface Note {
  folder: string;
  stamp: string;
}

const noteFile = (dataDir: string) => path.join(dataDir, "client-build.json");

/** Changes with the sources of the client, and with the build in `folder`. */
async function stampWith(folder: string): Promise<string> {
  const own = (await readdir(path.join(root, "client"))).filter((name) => name !== "dist").map((name) => path.join("client", name));
  const sources = [...own, "server/contract", "server/domain"].map((place) => path.join(root, place));
  return stampOf([...sources, ...packageFiles, path.join(folder, ".stamp"), path.join(folder, "pages.json")]);
}

/** The folder of the last start's build if nothing has changed since. Undefined also if that can't be told. */
async function findNoted(dataDir: string): Promise<string | undefined> {
  try {
    const { folder, stamp } = JSON.parse(await readFile(noteFile(dataDir), "utf8")) as Note;
    return stamp === (await stampWith(folder)) ? folder : undefined;
  } catch {
    return undefined;
  }
}

async function note(dataDir: string, folder: string): Promise<void> {
  const found: Note = { folder, stamp: await stampWith(folder) };
  await writeFile(noteFile(dataDir), JSON.stringify(found));
}

/**
 * Resolves to the folder of the built client: in the checkout, or in the data folder if the checkout is read-only. The last
 * build stays in place until the new one is complete.
 */
export async function buildClientWhenStale(dataDir: string, log: (line: string) => void, signal: AbortSignal): Promise<string> {
  const noted = await findNoted(dataDir);
  if (noted !== undefined) return noted;
  const folder = await build(dataDir, log, signal);
  // Without the note the next start takes longer.
  await note(dataDir, folder).catch(() => {});
  return folder;
}

/** A program of its own compares the sources' contents with those of the build, and builds if they differ. */
function build(dataDir: string, log: (line: string) => void, signal: AbortSignal): Promise<string> {
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
