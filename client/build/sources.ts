/** Detects whether a build is up to date with its sources. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

const sources = ["client", "server/contract", "server/domain"];
export const stampFile = ".stamp";

/** A hash of everything that goes into a build. */
export async function hashSources(root: string): Promise<string> {
  const files = ["package-lock.json"];
  const built = path.join(root, "client/dist");
  for (const source of sources) {
    for (const entry of await readdir(path.join(root, source), { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name);
      if (entry.isFile() && !file.startsWith(`${built}${path.sep}`)) files.push(path.relative(root, file));
    }
  }
  const hash = createHash("sha256");
  const contents = await Promise.all(files.sort().map((file) => readFile(path.join(root, file))));
  for (const [index, content] of contents.entries()) hash.update(`${files[index]}\0${content.length}\0`).update(content);
  return hash.digest("hex");
}

export function readStamp(folder: string): Promise<string> {
  return readFile(path.join(folder, stampFile), "utf8").catch(() => "");
}
