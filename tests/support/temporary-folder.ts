import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";

/** Linux keeps the files of this folder in memory. */
const memoryFolder = "/dev/shm";
/** A whole run has used less than a quarter of it. */
const neededBytes = 4 * 1024 ** 3;

/**
 * The folder for the files that the tests make. In memory a database is copied and dropped in a tenth of the processor time it takes on a
 * disk, and there are hundreds of them.
 */
export function temporaryFolder(): string {
  if (process.env.TMPDIR) return tmpdir();
  try {
    const { bavail, bsize } = statfsSync(memoryFolder);
    return bavail * bsize >= neededBytes ? memoryFolder : tmpdir();
  } catch {
    return tmpdir();
  }
}
