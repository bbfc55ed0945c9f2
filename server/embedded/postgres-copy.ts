/**
 * Copies PostgreSQL's programs to a folder where every user can run them, because PostgreSQL's system user can't read a checkout
 * under /root, for example. Root makes one copy for each version, in a folder that only root can write to. Copies that were not
 * used for a day are deleted at the next start.
 */
import { chmod, cp, lstat, mkdir, readdir, readlink, rename, rm, stat, utimes } from "node:fs/promises";
import path from "node:path";

const homes = ["/var/cache", "/var/tmp", "/tmp"];
const shelfName = "tessera-postgres";
const keptUnusedMs = 86_400_000;
const writableByOthers = 0o022;
const sticky = 0o1000;

/** The folder for the copies, in `home`. Throws if a user other than root could change its contents. */
async function openShelf(home: string): Promise<string> {
  const { uid, mode } = await stat(home);
  if (uid !== 0 || ((mode & writableByOthers) !== 0 && (mode & sticky) === 0))
    throw new Error(`users other than root can write to ${home}`);
  const shelf = path.join(home, shelfName);
  const created = await mkdir(shelf).then(
    () => true,
    () => false,
  );
  if (created) await chmod(shelf, 0o755);
  const found = await lstat(shelf);
  if (!found.isDirectory() || found.uid !== 0 || (found.mode & writableByOthers) !== 0)
    throw new Error(`users other than root can write to ${shelf}`);
  return shelf;
}

/** Makes the copy readable for everyone, because the installation's umask may have been stricter. */
async function openToEveryone(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  await chmod(folder, 0o755);
  for (const entry of entries) {
    const target = path.join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(target, 0o755);
    else if (entry.isFile()) await chmod(target, path.basename(entry.parentPath) === "bin" ? 0o755 : 0o644);
  }
}

/** Copies to a temporary folder and renames it, so that a copy is complete or absent. If two starts do this at once, the first one's copy stays. */
async function makeCopy(original: string, copy: string): Promise<void> {
  const beside = `${copy}.${process.pid}.new`;
  try {
    await cp(original, beside, { recursive: true, verbatimSymlinks: true });
    await openToEveryone(beside);
    await rename(beside, copy).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

async function programsThatRun(): Promise<string[]> {
  const processes = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  return Promise.all(processes.map((pid) => readlink(`/proc/${pid}/exe`).catch(() => "")));
}

async function sweep(shelf: string, used: string): Promise<void> {
  const running = await programsThatRun();
  for (const name of await readdir(shelf)) {
    const folder = path.join(shelf, name);
    if (folder === used || running.some((program) => program.startsWith(`${folder}${path.sep}`))) continue;
    if (Date.now() - (await lstat(folder)).mtimeMs > keptUnusedMs) await rm(folder, { recursive: true, force: true });
  }
}

/** The folder of a copy of `original` whose programs run; undefined if no folder can hold one. */
export async function copyForEveryone(
  original: string,
  version: string,
  runs: (folder: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const home of homes) {
    try {
      const shelf = await openShelf(home);
      const copy = path.join(shelf, version);
      if (!(await runs(copy))) {
        await rm(copy, { recursive: true, force: true });
        await makeCopy(original, copy);
      }
      if (await runs(copy)) {
        await utimes(copy, new Date(), new Date());
        await sweep(shelf, copy);
        return copy;
      }
      await rm(copy, { recursive: true, force: true });
    } catch {
      // The folder is full, read-only or belongs to another user: try the next one.
    }
  }
  return undefined;
}
