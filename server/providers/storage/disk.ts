/** Files in a folder of this machine, or of a volume that all machines of the product mount. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { refuseWithinTransaction } from "../../db/transaction.ts";
import type { FileStorage } from "./storage.ts";
import { assertFileName, bounded } from "./storage.ts";

/** No upload takes this long: what is older was left by a process that was killed. */
const leftoverMs = 24 * 60 * 60_000;
/** Only the product's own user may read the files. */
const fileMode = 0o600;
const folderMode = 0o700;

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

async function orMissing<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
}

/** A new name in a folder survives a loss of power only once the folder itself is on the disk. Windows can't do that to a folder. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

async function removeLeftovers(incoming: string): Promise<void> {
  for (const name of await readdir(incoming)) {
    const file = path.join(incoming, name);
    const found = await orMissing(stat(file));
    if (found && found.mtimeMs < Date.now() - leftoverMs) await rm(file, { force: true });
  }
}

/** `folder` is made at the first file. */
export function createDiskStorage(folder: string): FileStorage {
  const incoming = path.join(folder, "incoming");
  let prepared = false;

  /** The path. All files whose names end alike have a folder of their own, because a folder with very many files is slow. */
  function placeOf(name: string): { shelf: string; file: string } {
    refuseWithinTransaction("The file storage");
    assertFileName(name);
    const shelf = path.join(folder, name.slice(-2));
    return { shelf, file: path.join(shelf, name) };
  }

  async function prepare(): Promise<void> {
    if (prepared) return;
    await mkdir(incoming, { recursive: true, mode: folderMode });
    await removeLeftovers(incoming);
    prepared = true;
  }

  return {
    async put(name, content, maximumBytes) {
      const { shelf, file } = placeOf(name);
      await prepare();
      const partial = path.join(incoming, randomUUID());
      // Opened before anything can fail: a stream that opens its file itself may do so after the file was removed.
      const handle = await open(partial, "wx", fileMode);
      try {
        // `flush` waits for the disk before the file is closed.
        await pipeline(content, bounded(maximumBytes), handle.createWriteStream({ flush: true }));
        const { size } = await stat(partial);
        const isNewShelf = (await mkdir(shelf, { recursive: true, mode: folderMode })) !== undefined;
        await rename(partial, file);
        await syncFolder(shelf);
        if (isNewShelf) await syncFolder(folder);
        return size;
      } catch (error) {
        await rm(partial, { force: true });
        throw error;
      }
    },

    async get(name, range) {
      const handle = await orMissing(open(placeOf(name).file, "r"));
      if (!handle) return undefined;
      try {
        const { size } = await handle.stat();
        return { bytes: size, content: handle.createReadStream(range && { start: range.first, end: range.last }) };
      } catch (error) {
        await handle.close();
        throw error;
      }
    },

    exists: async (name) => (await orMissing(stat(placeOf(name).file))) !== undefined,

    delete: async (name) => rm(placeOf(name).file, { force: true }),

    async check() {
      refuseWithinTransaction("The file storage");
      await prepare();
      await access(incoming, constants.W_OK);
    },
  };
}
