/** A lock, so that only one supervisor uses a data folder at a time. */
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { StartError } from "../start-error.ts";
import { startOf } from "./processes.ts";

async function isAlive(holder: string): Promise<boolean> {
  const [pid, ...start] = holder.trim().split(" ");
  const current = await startOf(Number(pid));
  return current !== undefined && current === start.join(" ");
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Takes the lock or throws StartError. Takes over the lock of a process that has ended. Returns a function that releases it. */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  const file = path.join(dataDir, "supervisor.pid");
  const own = `${file}.${process.pid}`;
  const aside = `${own}.stale`;
  const attempts = 5;
  await writeFile(own, `${process.pid} ${await startOf(process.pid)}\n`).catch((error: NodeJS.ErrnoException) => {
    // The folder is another user's, for example after a start as root.
    throw new StartError(`DATA_DIR=${dataDir} cannot be used (${error.code}): name a folder that can be written to`);
  });
  try {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      if (await tryLink(own, file)) return () => rm(file, { force: true });
      const holder = await readFile(file, "utf8").catch(() => undefined);
      if (holder === undefined) continue;
      if (await isAlive(holder)) break;
      // Several processes may find the same stale file; only one of them can rename it. If that one renamed a lock that was taken
      // meanwhile, it puts the lock back.
      await rename(file, aside).catch(() => {});
      const caught = await readFile(aside, "utf8").catch(() => undefined);
      if (caught !== undefined && caught !== holder) await tryLink(aside, file);
      await rm(aside, { force: true });
    }
  } finally {
    await rm(own, { force: true });
  }
  const holder = await readFile(file, "utf8").catch(() => "");
  throw new StartError(`DATA_DIR=${dataDir} is in use by process ${holder.split(" ")[0]}: stop that one, or start with another DATA_DIR`);
}
