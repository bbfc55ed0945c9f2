/**
 * Builds the client, for `npm run build`, `npm start` and the tests: it bundles the code, prerenders the pages in every
 * language, compresses the files and then moves the result into place in one step. `--out-dir` names the target folder.
 * `--spare-dir` names another one for a checkout that can't be written to. `--when-stale` builds only if something has changed.
 * The parent process is told where the client is.
 */
import { createHash } from "node:crypto";
import { access, constants, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { catalogueAsOf, catalogueEditions } from "#domain/models.ts";
import { readAssets } from "./build/assets.ts";
import { compressFolder } from "./build/compress.ts";
import { documentOf } from "./build/document.ts";
import { feedOf, robotsOf, sitemapOf } from "./build/feeds.ts";
import { originPlaceholder } from "./build/head.ts";
import { putInPlace } from "./build/releases.ts";
import { hashSources, readStamp, stampFile } from "./build/sources.ts";
import type { DrawnPage } from "./prerender.tsx";

const root = fileURLToPath(new URL("../", import.meta.url));
const configFile = path.join(root, "client/vite.config.ts");

type Prerender = Pick<typeof import("./prerender.tsx"), "addressPlaceholder" | "drawPages" | "routing">;

async function bundle(site: string, drawing: string): Promise<Prerender> {
  // Imported only if there is something to build, because `npm start` runs this file every time.
  const { build } = await import("vite");
  // Node can load the configuration as it is; with the bundler, Vite would write a copy of it next to the packages.
  const given = { configFile, configLoader: "native", logLevel: "error" } as const;
  await Promise.all([
    build({ ...given, build: { outDir: site, emptyOutDir: true, manifest: true } }),
    build({ ...given, build: { outDir: drawing, emptyOutDir: true, ssr: "prerender.tsx", copyPublicDir: false } }),
  ]);
  return (await import(pathToFileURL(path.join(drawing, "prerender.js")).href)) as Prerender;
}

function fileOf({ kind, language, path: address }: DrawnPage): string {
  if (kind === "frame") return `pages/${language}/frame.html`;
  if (kind === "notFound") return `pages/${language}/404.html`;
  return `pages/${language}${address === "/" ? "/index" : address}.html`;
}

/** The page's own preview picture, or else the picture of its kind, or else the product's. */
async function pictureOf(site: string, address: string): Promise<string> {
  const [kind = "", name] = address.slice(1).split("/");
  const candidates = name === undefined ? [`${kind}.png`] : [`${kind}-${name}.png`, `${kind}.png`];
  for (const file of candidates) {
    const exists = await access(path.join(site, "og", file)).then(
      () => true,
      () => false,
    );
    if (exists) return file;
  }
  return "home.png";
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

interface Drawing {
  pages: readonly DrawnPage[];
  documents: Map<string, string>;
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
async function prerender(site: string, { addressPlaceholder, drawPages, routing }: Prerender): Promise<void> {
  const [template, assets] = await Promise.all([readFile(path.join(site, "index.html"), "utf8"), readAssets(site)]);
  const draw = async (day: string): Promise<Drawing> => {
    const pages = await drawPages(day);
    const documents = new Map<string, string>();
    for (const page of pages) documents.set(fileOf(page), documentOf(page, template, assets, await pictureOf(site, page.path)));
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

/**
 * The folder to build in. The prerendering program imports packages, which Node looks for in the folders above it, so a spare
 * folder gets a link to node_modules.
 */
async function openWorkFolder(place: string): Promise<string> {
  if (place !== spare) return path.join(root, `node_modules/.cache/tessera-client-${process.pid}`);
  const work = `${place}.work`;
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  await symlink(path.join(root, "node_modules"), path.join(work, "node_modules"));
  return work;
}

async function buildClient(place: string, stamp: string): Promise<void> {
  const work = await openWorkFolder(place);
  const site = path.join(work, "site");
  try {
    await prerender(site, await bundle(site, path.join(work, "drawing")));
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
