/** One supervisor at a time on one data folder. */
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { startOf } from "./processes.ts";
import { StartError } from "./start-error.ts";

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

/** Takes the lock or throws StartError. The lock of a process that has gone is taken over. Returns how to release it. */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  const file = path.join(dataDir, "supervisor.pid");
  const own = `${file}.${process.pid}`;
  const aside = `${own}.stale`;
  const attempts = 5;
  await writeFile(own, `${process.pid} ${await startOf(process.pid)}\n`);
  try {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      if (await tryLink(own, file)) return () => rm(file, { force: true });
      const holder = await readFile(file, "utf8").catch(() => undefined);
      if (holder === undefined) continue;
      if (await isAlive(holder)) break;
      // Renaming picks one winner among several that found the same stale file; a fresh one caught by it goes back.
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
