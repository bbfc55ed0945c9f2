/**
 * Serves the pages in the visitor's language, and puts the product's own address into them. Those of the catalogue's editions were drawn at
 * build (client/prerender.tsx); pages for other models are drawn when they are asked for (drawer.ts).
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gunzip, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#domain/clock.ts";
import type { LanguageCode } from "#domain/languages.ts";
import type { Model } from "#domain/models.ts";
import { isOffered } from "#domain/models.ts";
import type { App } from "./app-type.ts";
import type { ShownModels } from "./drawer.ts";
import { Drawer } from "./drawer.ts";
import { pageLanguage } from "./page-language.ts";

/** The list of pages that the build writes (`pages.json`). */
interface PagesIndex {
  originPlaceholder: string;
  addressPlaceholder: string;
  /** Addresses, and all below them, of which only the frame is prerendered; the browser renders the rest. */
  framePaths: string[];
  /** By address: if the query has one of these names, the browser renders the page. */
  queries: Record<string, string[]>;
  /**
   * The editions of the catalogue from the first to the last: the first day of each, in UTC, and the files that differ from those of the
   * first edition, by their names there.
   */
  editions: { from: string; files: Record<string, string> }[];
  /** The file of each address in each language. */
  pages: Record<LanguageCode, Record<string, string>>;
}

interface Content {
  body: Buffer;
  etag: string;
}

const documents = { "/sitemap.xml": "application/xml", "/robots.txt": "text/plain", "/blog/rss.xml": "application/rss+xml" };
/** For an address that names its language: the page is the same for everybody, and may be a few minutes old. */
const explicitCache = "public, max-age=300";
const negotiatedCache = "private, no-cache";
/** How many characters of the address the not-found page shows; the client has the same limit (client/pages/not-found.tsx). */
const shownAddressLength = 60;

const encoders = {
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (body: Buffer) => promisify(gzip)(body, { level: 9 }),
};
type Encoding = keyof typeof encoders;

function encodingOf(request: FastifyRequest): Encoding | undefined {
  const accepted = String(request.headers["accept-encoding"] ?? "")
    .split(",")
    .map((item) => item.trim().toLowerCase().replaceAll(" ", ""))
    .filter((item) => !/;q=0(\.0*)?$/.test(item))
    .map((item) => item.split(";")[0]);
  return (["br", "gzip"] as const).find((encoding) => accepted.includes(encoding));
}

function isKnown(request: FastifyRequest, etag: string): boolean {
  const known = (request.headers["if-none-match"] ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return known.includes(etag) || known.includes("*");
}

/** If a page could not be drawn, its edition's page is served for this long before the next try. */
const drawAgainMs = 60_000;

/** Reads or draws a file at its first request, and keeps only its compressed forms in memory. */
class PageFiles {
  private readonly encoded = new Map<string, Promise<Content>>();
  private readonly folder: URL;
  /** Other files to read, by the names that are asked for. */
  private readonly instead: Readonly<Record<string, string>>;
  private readonly replace: (text: string) => string;
  /** Undefined if the pages of the edition are right. Resolves to undefined for a page that can't be drawn. */
  private readonly draw: ((file: string) => Promise<string | undefined>) | undefined;

  constructor(folder: URL, instead: PageFiles["instead"], replace: PageFiles["replace"], draw: PageFiles["draw"]) {
    this.folder = folder;
    this.instead = instead;
    this.replace = replace;
    this.draw = draw;
  }

  private isDrawn(file: string): boolean {
    return this.draw !== undefined && file.startsWith("pages/");
  }

  private async load(file: string): Promise<string> {
    const drawn = this.isDrawn(file) ? await this.draw?.(file) : undefined;
    if (drawn === undefined && this.isDrawn(file)) setTimeout(() => this.forget(file), drawAgainMs).unref();
    return this.replace(drawn ?? (await readFile(fileURLToPath(new URL(this.instead[file] ?? file, this.folder)), "utf8")));
  }

  private forget(file: string): void {
    for (const encoding of Object.keys(encoders)) this.encoded.delete(`${encoding} ${file}`);
  }

  /** Nothing is drawn for a request: what was drawn is kept compressed, and unpacked. */
  async text(file: string): Promise<string> {
    if (!this.isDrawn(file)) return this.load(file);
    const { body } = await this.content(file, "gzip");
    return String(await promisify(gunzip)(body));
  }

  private async read(file: string, encoding: Encoding | undefined): Promise<Content> {
    const plain = Buffer.from(await (encoding ? this.load(file) : this.text(file)));
    const hash = createHash("sha256").update(plain).digest("base64url").slice(0, 22);
    if (!encoding) return { body: plain, etag: `"${hash}"` };
    return { body: await encoders[encoding](plain), etag: `"${hash}-${encoding}"` };
  }

  /** The uncompressed form is requested so rarely that we don't keep it. */
  content(file: string, encoding: Encoding | undefined): Promise<Content> {
    if (!encoding) return this.read(file, encoding);
    const key = `${encoding} ${file}`;
    const known = this.encoded.get(key);
    if (known) return known;
    const content = this.read(file, encoding);
    this.encoded.set(key, content);
    // Otherwise the failed read would be cached.
    content.catch(() => this.encoded.delete(key));
    return content;
  }
}

async function send(files: PageFiles, file: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const encoding = encodingOf(request);
  const { body, etag } = await files.content(file, encoding);
  reply.header("etag", etag);
  if (isKnown(request, etag)) return reply.code(304).send();
  if (encoding) reply.header("content-encoding", encoding);
  return reply.send(body);
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function shownAddress(pathname: string): string {
  let address = pathname;
  try {
    address = decodeURI(pathname);
  } catch {
    // It can't be decoded, so show it as it is.
  }
  return address.length > shownAddressLength ? `${address.slice(0, shownAddressLength)}…` : address;
}

export interface Pages {
  /** Answers a request for which there is no file: with the frame, or with the not-found page and status 404. */
  answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

export interface Site {
  /** The product's public address. */
  publicUrl: URL;
  /** Whether one can sign in with Google. The document says so, so that its first paint is right (client/features/auth/auth.module.css). */
  google: boolean;
  /** What pages have to know of models that are in no catalogue (client/lib/known-models.ts), also of those that have ended. */
  ownModels?: readonly Omit<Model, "upstreamModel">[];
  /** Business time: the pages show the models of its day. */
  clock: Clock;
  /** The ids of models that are switched off now: no page counts or names them. */
  switchedOff?: () => readonly string[];
  /** Prices of today that are not those of the catalogue, in credits by the models' ids. */
  changedPrices?: () => Readonly<Record<string, number>>;
}

/**
 * The documents for today's edition, without the models that are switched off. When the day turns or a model is switched, the first
 * request begins a new set, and with it new ETags.
 */
function followModels(app: App, folder: URL, index: PagesIndex, site: Site): () => PageFiles {
  const { publicUrl, google, ownModels = [], clock, switchedOff = () => [], changedPrices = () => ({}) } = site;

  function filesOf(
    { from, files }: PagesIndex["editions"][number],
    models: Omit<ShownModels, "edition">,
    drawer: Drawer | undefined,
  ): PageFiles {
    const mark = (name: string, value: string) => ` data-${name}="${escapeHtml(value)}"`;
    const marks = [
      mark("catalogue", from),
      ...(google ? [" data-google"] : []),
      ...(drawer ? [mark("models", JSON.stringify(models))] : []),
    ].join("");
    const replace = (text: string) =>
      text.replaceAll(index.originPlaceholder, publicUrl.origin).replace(/<html [^>]*/, (tag) => tag + marks);
    // A page with the models of its edition is better than none. The browser draws it anew with the right ones.
    const drawWith = (drawer: Drawer) => (file: string) =>
      drawer.draw(file).catch((error: unknown) => {
        app.log.error({ err: error, file }, "a page could not be drawn");
        return undefined;
      });
    return new PageFiles(folder, files, replace, drawer && drawWith(drawer));
  }

  /** What is kept of the models that were shown last. */
  let kept: { key: string; files: PageFiles; drawer: Drawer | undefined } | undefined;
  app.addHook("onClose", async () => kept?.drawer?.close());

  return () => {
    const today = clock.now().toISOString().slice(0, 10);
    const edition = index.editions.findLast(({ from }) => from <= today) ?? index.editions[0];
    if (!edition) throw new Error("pages.json has no edition of the catalogue");
    const off = switchedOff().toSorted();
    const ended = ownModels.filter((model) => !isOffered(model, clock.now())).map(({ id }) => id);
    const models = { off, own: ownModels, ...(ended.length > 0 && { ended }), prices: changedPrices() };
    const key = JSON.stringify([edition.from, off, ended, models.prices]);
    if (kept?.key !== key) {
      kept?.drawer?.leave();
      const isDrawn = off.length > 0 || ownModels.length > 0 || Object.keys(models.prices).length > 0;
      const drawer = isDrawn ? new Drawer(folder, { edition: edition.from, ...models }) : undefined;
      kept = { key, files: filesOf(edition, models, drawer), drawer };
    }
    return kept.files;
  };
}

/** Serves the pages of the built client in `folder`. */
export async function registerPages(app: App, folder: URL, site: Site): Promise<Pages> {
  const index = JSON.parse(await readFile(new URL("pages.json", folder), "utf8")) as PagesIndex;

  const filesToday = followModels(app, folder, index, site);

  function readRequest(request: FastifyRequest, reply: FastifyReply) {
    const [pathname = "/", search = ""] = request.url.split("?", 2);
    const query = new URLSearchParams(search);
    const { language, explicit } = pageLanguage(query, request.headers);
    reply.type("text/html; charset=utf-8").header("content-language", language);
    reply.header("cache-control", explicit ? explicitCache : negotiatedCache);
    reply.header("vary", explicit ? "Accept-Encoding" : "Cookie, Accept-Language, Accept-Encoding");
    reply.header("speculation-rules", '"/speculation-rules.json"');
    return { pathname, query, language };
  }

  async function sendPage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { pathname, query, language } = readRequest(request, reply);
    const drawnThere = index.queries[pathname]?.some((name) => query.has(name)) ?? false;
    const file = (!drawnThere && index.pages[language][pathname]) || `pages/${language}/frame.html`;
    return send(filesToday(), file, request, reply);
  }

  for (const path of Object.keys(index.pages.en)) app.get(path, { schema: { hide: true } }, sendPage);
  for (const [path, type] of Object.entries(documents)) {
    app.get(path, { schema: { hide: true } }, (request, reply) => {
      reply.type(`${type}; charset=utf-8`).header("cache-control", "no-cache").header("vary", "Accept-Encoding");
      return send(filesToday(), path.slice(1), request, reply);
    });
  }

  return {
    async answer(request, reply) {
      const { pathname, language } = readRequest(request, reply);
      if (index.framePaths.some((path) => pathname === path || pathname.startsWith(`${path}/`))) {
        return send(filesToday(), `pages/${language}/frame.html`, request, reply);
      }
      const page = await filesToday().text(`pages/${language}/404.html`);
      const address = escapeHtml(shownAddress(pathname));
      reply.code(404).header("cache-control", negotiatedCache);
      return reply.send(page.replaceAll(index.addressPlaceholder, () => address));
    },
  };
}
