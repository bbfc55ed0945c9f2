/**
 * Weighs what a browser downloads before a page is interactive: every script and style that its document names, and their
 * static imports. What is loaded later (components/late.tsx) does not count. The scripts of content that sleeps (client/lib/sleep.ts)
 * are weighed separately.
 */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { paths } from "#client/paths.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, languages } from "#domain/languages.ts";
import { root } from "#tests/support/sources.ts";

/** `textBytes` in bytes of gzip; the others as multiples of the floor's scripts. */
export const limits = { asleep: 1.2, woken: 1.4, public: 1.35, chat: 2, any: 2.5, styles: 0.2, textBytes: 15_000 } as const;

export interface PageWeight {
  address: string;
  language: LanguageCode;
  kind: "public" | "chat" | "private";
  /** All in bytes of gzip; `scriptBytes` includes the texts. */
  scriptBytes: number;
  /** The scripts with those of content that sleeps; null if nothing on the page sleeps. */
  wokenBytes: number | null;
  styleBytes: number;
  textBytes: number;
}

interface Chunk {
  file: string;
  imports?: string[];
  css?: string[];
}
type Manifest = Readonly<Record<string, Chunk>>;

interface Files {
  scripts: string[];
  /** What content that sleeps needs besides. */
  contentScripts: string[];
  styles: string[];
}

const sizes = new Map<string, number>();

/** The sum of the files' sizes in bytes of gzip, each compressed by itself as the server does. */
export async function gzipBytes(folder: string, files: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const file of files) {
    const place = path.join(folder, file);
    const size = sizes.get(place) ?? gzipSync(await readFile(place), { level: 9 }).length;
    sizes.set(place, size);
    bytes += size;
  }
  return bytes;
}

function namedIn(document: string, pattern: RegExp): string[] {
  return [...document.matchAll(pattern)].flatMap(([, file]) => file ?? []);
}

/** The scripts that a document loads. */
export async function scriptsOf(folder: string, document: string): Promise<string[]> {
  const html = await readFile(path.join(folder, document), "utf8");
  const late = namedIn(html, /<meta name="scripts" content="([^"]+)"/g).flatMap((files) => files.split(" "));
  return [...namedIn(html, /<(?:script|link rel="modulepreload")[^>]* (?:src|href)="([^"]+)"/g), ...late];
}

/** The scripts that the document's content needs once it wakes up. */
async function contentScriptsOf(folder: string, document: string): Promise<string[]> {
  const html = await readFile(path.join(folder, document), "utf8");
  return namedIn(html, /<meta name="content-scripts" content="([^"]+)"/g).flatMap((files) => files.split(" "));
}

/** The styles that the document loads, and those that one of them has joined, which the browser loads for no script. */
async function stylesOf(folder: string, document: string): Promise<{ loaded: string[]; joined: string[] }> {
  const html = await readFile(path.join(folder, document), "utf8");
  return {
    loaded: namedIn(html, /<link rel="stylesheet"[^>]* href="([^"]+)"/g),
    joined: namedIn(html, /<link disabled rel="stylesheet"[^>]* href="([^"]+)"/g),
  };
}

/** The chunks of these sources and all their static imports. */
function reach(manifest: Manifest, keys: readonly string[], found = new Map<string, Chunk>()): Map<string, Chunk> {
  for (const key of keys) {
    const chunk = manifest[key];
    if (!chunk || found.has(key)) continue;
    found.set(key, chunk);
    reach(manifest, chunk.imports ?? [], found);
  }
  return found;
}

function filesOf(chunks: Iterable<Chunk>): Pick<Files, "scripts" | "styles"> {
  const all = [...chunks];
  return { scripts: all.map(({ file }) => `/${file}`), styles: all.flatMap(({ css = [] }) => css.map((file) => `/${file}`)) };
}

/** The files the browser loads for a document and, if the page is rendered in the browser, for `sources`. */
async function load(folder: string, manifest: Manifest, document: string, sources: readonly string[] = []): Promise<Files> {
  const [scripts, contentScripts, styles] = await Promise.all([
    scriptsOf(folder, document),
    contentScriptsOf(folder, document),
    stylesOf(folder, document),
  ]);
  const keysOf = (files: readonly string[]) =>
    Object.entries(manifest).flatMap(([key, { file }]) => (files.includes(`/${file}`) ? [key] : []));
  const reached = filesOf(reach(manifest, [...keysOf(scripts), ...sources]).values());
  const all = new Set([...scripts, ...reached.scripts]);
  const woken = new Set([...contentScripts, ...filesOf(reach(manifest, keysOf(contentScripts)).values()).scripts]);
  return {
    scripts: [...all],
    contentScripts: [...woken].filter((file) => !all.has(file)),
    styles: [...new Set([...styles.loaded, ...reached.styles.filter((file) => !styles.joined.includes(file))])],
  };
}

/** The pages in the route table that are rendered in the browser (the build renders only their frame), with their sources. */
async function privatePages(manifest: Manifest): Promise<{ address: string; sources: string[] }[]> {
  const [table, loaders] = await Promise.all(
    ["routes.tsx", "signed-in.ts"].map((file) => readFile(path.join(root, "client", file), "utf8")),
  );
  const imports = [...(loaders ?? "").matchAll(/const (\w+) = [^;]*?import\("\.\/(pages\/[\w-]+\.tsx)"\)/g)];
  const pageOf = new Map(imports.map(([, loader = "", page = ""]) => [loader, page]));
  const lines = (table ?? "").matchAll(/privatePage\(\s*paths\.(\w+),\s*\[([^\]]*)\],[^;]*?signedIn\(\)\)\.(\w+)\(\)/g);
  return [...lines].map(([, name = "", texts = "", loader = ""]) => {
    const page = pageOf.get(loader) ?? loader;
    if (!manifest[page]) throw new Error(`${page} has no chunk of its own`);
    const namespaces = [...texts.matchAll(/"([\w-]+)"/g)].map(([, namespace]) => `i18n/locales/${fallbackLanguage}/${namespace}.json`);
    const address = paths[name as keyof typeof paths];
    return { address, sources: ["signed-in.ts", page, ...namespaces] };
  });
}

interface Frame {
  /** The route of the page whose sections they are. */
  address: string;
  /** The file that names them. */
  file: string;
  /** What the sections need besides the page. */
  sources?: readonly string[];
}

/** The sections of a page that have a chunk of their own, each with what its page is made of. */
async function sectionsOf(
  manifest: Manifest,
  pages: readonly { address: string; sources: string[] }[],
  { address: route, file: namedIn, sources = [] }: Frame,
): Promise<{ address: string; sources: string[] }[]> {
  const frame = pages.find(({ address }) => address === route);
  const source = await readFile(path.join(root, "client", namedIn), "utf8");
  const imports = source.matchAll(/lazy\(async \(\) => \(\{ default: \(await import\("(?:#client|\.)\/([\w/-]+\.tsx)"/g);
  return [...imports].map(([, file = ""]) => {
    const chunk = [file, `pages/${file}`].find((key) => manifest[key]);
    if (!frame || !chunk) throw new Error(`${file} has no chunk of its own`);
    return { address: `${route}: ${chunk}`, sources: [...frame.sources, ...sources, chunk] };
  });
}

async function weigh(
  folder: string,
  page: Pick<PageWeight, "address" | "language" | "kind">,
  { scripts, contentScripts, styles }: Files,
): Promise<PageWeight> {
  const texts = [...scripts, ...contentScripts].filter((file) => file.startsWith("/assets/locale-"));
  const [scriptBytes, contentBytes, styleBytes, textBytes] = await Promise.all([
    gzipBytes(folder, scripts),
    gzipBytes(folder, contentScripts),
    gzipBytes(folder, styles),
    gzipBytes(folder, texts),
  ]);
  return { ...page, scriptBytes, wokenBytes: contentBytes > 0 ? scriptBytes + contentBytes : null, styleBytes, textBytes };
}

/** Weighs every prerendered page in `folder` in every language, and the pages rendered in the browser in English. */
export async function weighPages(folder: string): Promise<PageWeight[]> {
  const read = async (file: string) => JSON.parse(await readFile(path.join(folder, file), "utf8")) as unknown;
  const manifest = (await read(".vite/manifest.json")) as Manifest;
  const { pages } = (await read("pages.json")) as { pages: Record<LanguageCode, Record<string, string>> };
  const weights: PageWeight[] = [];
  const seen = new Set<string>();
  const add = async (page: Pick<PageWeight, "address" | "language" | "kind">, document: string, sources: readonly string[] = []) => {
    const files = await load(folder, manifest, document, sources);
    for (const script of [...files.scripts, ...files.contentScripts]) seen.add(script);
    weights.push(await weigh(folder, page, files));
  };
  for (const { code: language } of languages) {
    for (const [address, document] of Object.entries({ ...pages[language], "/404": `pages/${language}/404.html` })) {
      await add({ address, language, kind: address === paths.aiModels ? "chat" : "public" }, document);
    }
  }
  const rendered = await privatePages(manifest);
  const account = await sectionsOf(manifest, rendered, { address: paths.accountSection, file: "pages/account-section.tsx" });
  const panel = "pages/admin-panel.tsx";
  const panelSources = [panel, `i18n/locales/${fallbackLanguage}/admin.json`];
  const admin = await sectionsOf(manifest, rendered, { address: paths.adminPlace, file: panel, sources: panelSources });
  for (const { address, sources } of [...rendered, ...account, ...admin]) {
    await add({ address, language: fallbackLanguage, kind: "private" }, `pages/${fallbackLanguage}/frame.html`, sources);
  }
  const missed = Object.entries(manifest).filter(([key, { file }]) => key.startsWith("pages/") && !seen.has(`/${file}`));
  if (missed.length > 0) throw new Error(`weighed by no route: ${missed.map(([key]) => key).join(", ")}`);
  return weights;
}

/** One line for each limit that the page exceeds. */
export function faultsOf(page: PageWeight, floorBytes: number): string[] {
  const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} KB`;
  const over = (what: string, bytes: number, limit: number) =>
    bytes > limit ? [`${page.address} (${page.language}): ${what} ${kilobytes(bytes)}, over ${kilobytes(limit)}`] : [];
  const share = page.kind === "private" ? limits.any : limits[page.kind];
  return [
    ...over("scripts", page.scriptBytes, (page.wokenBytes === null ? share : limits.asleep) * floorBytes),
    ...over("scripts with those of its content", page.wokenBytes ?? 0, (page.kind === "chat" ? limits.chat : limits.woken) * floorBytes),
    ...over("styles", page.styleBytes, limits.styles * floorBytes),
    ...over("texts", page.textBytes, limits.textBytes),
  ];
}
