/**
 * Builds the client, for `npm run build`, `npm start` and the tests: it bundles the code, prerenders the pages in every
 * language, compresses the files and then moves the result into place in one step. `--out-dir` names the target folder.
 * `--spare-dir` names another one for a checkout that can't be written to. `--when-stale` builds only if something has changed.
 * The parent process is told where the client is.
 */
import { createHash } from "node:crypto";
import { access, constants, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { catalogueEditions } from "#domain/editions.ts";
import { catalogueAsOf } from "#domain/models.ts";
import { compressFolder } from "./build/compress.ts";
import { feedOf, robotsOf, sitemapOf } from "./build/feeds.ts";
import { originPlaceholder } from "./build/head.ts";
import { putInPlace } from "./build/releases.ts";
import { hashSources, readStamp, stampFile } from "./build/sources.ts";
import type { DrawnPage } from "./prerender.tsx";

const root = fileURLToPath(new URL("../", import.meta.url));
const configFile = path.join(root, "client/vite.config.ts");

type Program = typeof import("./drawing.ts");

/** Where servers find the program that draws (server/http/drawer.ts). */
const programFolder = "drawing";

async function bundle(site: string, drawing: string): Promise<Program> {
  // Imported only if there is something to build, because `npm start` runs this file every time.
  const { build } = await import("vite");
  // Node can load the configuration as it is; with the bundler, Vite would write a copy of it next to the packages.
  const given = { configFile, configLoader: "native", logLevel: "error" } as const;
  const rolldownOptions = { output: { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" } };
  await Promise.all([
    build({ ...given, build: { outDir: site, emptyOutDir: true, manifest: true } }),
    build({
      ...given,
      define: { "process.env.NODE_ENV": '"production"' },
      ssr: { noExternal: true },
      build: { outDir: drawing, emptyOutDir: true, ssr: "drawing.ts", copyPublicDir: false, rolldownOptions },
    }),
  ]);
  const placed = path.join(site, programFolder);
  await rename(drawing, placed);
  return (await import(pathToFileURL(path.join(placed, "drawing.mjs")).href)) as Program;
}

/** A hash that changes with everything that is served. Names of assets already contain a hash of their content; pages are read. */
async function releaseOf(site: string, documents: ReadonlyMap<string, string>): Promise<string> {
  const hash = createHash("sha256").update((await readdir(path.join(site, "assets"))).sort().join("\n"));
  for (const [file, content] of documents) hash.update(`${file}\0${content}\0`);
  return hash.digest("hex").slice(0, 16);
}

/** An edition of the catalogue, and of the pages that show it. */
interface Edition {
  /** Its first day, in UTC. */
  from: string;
  /** The files that differ from those of the first edition, by their names there. */
  files: Record<string, string>;
}

/** Removes from `documents` what is as in the first edition, and names the rest after the edition. */
function withoutRepeats(documents: Map<string, string>, from: string, first: ReadonlyMap<string, string>): Edition {
  const files: Edition["files"] = {};
  for (const [file, content] of [...documents]) {
    documents.delete(file);
    if (first.get(file) === content) continue;
    const name = file.replace(/\.(?=\w+$)/, `.${from}.`);
    files[file] = name;
    documents.set(name, content);
  }
  return { from, files };
}

/** Draws the pages once for each edition of the catalogue; the server chooses by the day (http/pages.ts). */
async function drawEditions(site: string, { facts: { addressPlaceholder, fileOf, routing }, openDrawing }: Program): Promise<void> {
  const drawing = await openDrawing(site, { joins: true });
  const draw = async (edition: string) => {
    drawing.show({ edition, off: [], own: [], prices: {} });
    const pages: DrawnPage[] = [];
    const documents = new Map<string, string>();
    for (const [file, place] of drawing.places) {
      const { page, document } = await drawing.draw(place);
      pages.push(page);
      documents.set(file, document);
    }
    return { pages, documents };
  };
  const [firstDay = catalogueAsOf, ...laterDays] = catalogueEditions;
  const { pages, documents } = await draw(firstDay);
  const first = new Map(documents);
  const editions: Edition[] = [{ from: firstDay, files: {} }];
  for (const day of laterDays) {
    const later = await draw(day);
    editions.push(withoutRepeats(later.documents, day, first));
    for (const [file, content] of later.documents) documents.set(file, content);
  }
  const files: Record<string, Record<string, string>> = {};
  for (const page of pages) if (page.kind === "page") files[page.language] = { ...files[page.language], [page.path]: fileOf(page) };
  const found = pages.filter(({ kind, head }) => kind === "page" && head.indexable !== false);
  documents.set("sitemap.xml", sitemapOf(found)).set("robots.txt", robotsOf()).set("blog/rss.xml", feedOf(found));
  for (const [file, content] of documents) {
    await mkdir(path.dirname(path.join(site, file)), { recursive: true });
    await writeFile(path.join(site, file), content);
  }
  const release = await releaseOf(site, documents);
  const index = { release, originPlaceholder, addressPlaceholder, ...routing, editions, pages: files };
  await writeFile(path.join(site, "pages.json"), JSON.stringify(index));
  // The server uses the whole list; the service worker needs only this part.
  await writeFile(path.join(site, "queries.json"), JSON.stringify(routing.queries));
}

async function buildClient(place: string, stamp: string): Promise<void> {
  const work = place === spare ? `${place}.work` : path.join(root, `node_modules/.cache/tessera-client-${process.pid}`);
  const site = path.join(work, "site");
  try {
    await drawEditions(site, await bundle(site, path.join(work, "drawing")));
    await compressFolder(site);
    await writeFile(path.join(site, stampFile), stamp);
    await putInPlace(site, place);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function isWritable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
}

async function choosePlace(): Promise<string> {
  const needed = [path.dirname(outDir), path.join(root, "node_modules")];
  return spare === undefined || (await Promise.all(needed.map(isWritable))).every(Boolean) ? outDir : spare;
}

/** The folder of a build that is up to date, if there is one. */
async function findCurrent(stamp: string): Promise<string | undefined> {
  for (const place of [outDir, spare]) if (place && (await readStamp(place)) === stamp) return place;
  return undefined;
}

const { values } = parseArgs({
  options: { "out-dir": { type: "string" }, "spare-dir": { type: "string" }, "when-stale": { type: "boolean", default: false } },
});
const outDir = path.resolve(values["out-dir"] ?? path.join(root, "client/dist"));
const spare = values["spare-dir"] && path.resolve(values["spare-dir"]);
const stamp = await hashSources(root);
let folder = values["when-stale"] ? await findCurrent(stamp) : undefined;
if (folder === undefined) {
  console.log("building the client …");
  folder = await choosePlace();
  await buildClient(folder, stamp);
}
process.send?.({ type: "built", folder });
