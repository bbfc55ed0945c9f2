/**
 * A page that is open during a deployment still requests the assets of its own release. So the assets of the last two releases
 * stay next to the new ones, in `kept/`, which every build copies from the one before.
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

/** Moves by renaming; between file systems it copies instead. */
async function move(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "EXDEV") throw error;
    await cp(from, to, { recursive: true });
    await rm(from, { recursive: true, force: true });
  });
}

/** Copies the assets of the last two releases into the new build. */
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

/** Moves the new build into place. The last build stays until the new one is complete. */
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
