/**
 * A page that is open while a new release goes out still asks for the assets of its own, so those of the last two releases
 * stay beside the new ones, in `kept/`, which each build hands on to the next.
 */
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";

const releasesKept = 2;
const listFile = "releases.json";

interface Release {
  release: string;
  assets: string[];
}

async function readJson<Content>(file: string): Promise<Content | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Content);
}

/** Renames where it can; a folder of another file system is copied. */
async function move(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "EXDEV") throw error;
    await cp(from, to, { recursive: true });
    await rm(from, { recursive: true, force: true });
  });
}

/** Puts into the new build what the one before it, and the one before that, were served with. */
async function keepAssets(previous: string, next: string): Promise<void> {
  const kept = path.join(next, "kept");
  await mkdir(path.join(kept, "assets"), { recursive: true });
  const last = await readJson<{ release: string }>(path.join(previous, "pages.json"));
  const current = await readJson<{ release: string }>(path.join(next, "pages.json"));
  const older = (await readJson<Release[]>(path.join(previous, "kept", listFile))) ?? [];
  const lastAssets = await readdir(path.join(previous, "assets")).catch(() => []);
  const known = last && lastAssets.length > 0 ? [{ release: last.release, assets: lastAssets }, ...older] : older;
  const newest = known
    .filter(({ release }, index) => release !== current?.release && known.findIndex((other) => other.release === release) === index)
    .slice(0, releasesKept);
  for (const asset of new Set(newest.flatMap(({ assets }) => assets))) {
    const places = [path.join(previous, "assets", asset), path.join(previous, "kept/assets", asset)];
    for (const place of places) {
      const copied = await cp(place, path.join(kept, "assets", asset)).then(
        () => true,
        () => false,
      );
      if (copied) break;
    }
  }
  await writeFile(path.join(kept, listFile), JSON.stringify(newest));
}

/** Takes the new build into use. The last one stays in place until the new one is whole. */
export async function putInPlace(built: string, place: string): Promise<void> {
  await keepAssets(place, built);
  const previous = `${place}-previous-${process.pid}`;
  await mkdir(path.dirname(place), { recursive: true });
  await move(place, previous).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  await move(built, place);
  await rm(previous, { recursive: true, force: true });
}
