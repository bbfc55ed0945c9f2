/** Serves the built client. Assets are cached for good, because their names contain a hash. A missing asset is a 404, never HTML. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { FastifyRequest } from "fastify";
import type { App } from "./app-type.ts";
import type { Site } from "./pages.ts";
import { registerPages } from "./pages.ts";
import { sendNotFound } from "./problem.ts";

const clientFolder = new URL("../../client/dist/", import.meta.url);

/**
 * Files that only the server and the build read. The files in `pages` don't contain the product's address yet (pages.ts adds it),
 * the older assets in `kept` are served from `/assets`, `drawing` is the program that draws pages (drawer.ts), `index.html` is a template.
 */
const notServed = /^\/(pages|kept|drawing)(\/|$)|^\/(pages\.json|releases\.json|index\.html)|\/\./;

function wantsPage(request: FastifyRequest): boolean {
  const path = request.url.split("?")[0] ?? "";
  const lastSegment = path.slice(path.lastIndexOf("/") + 1);
  if (!["GET", "HEAD"].includes(request.method) || path.startsWith("/api/") || path.startsWith("/assets/")) return false;
  return !lastSegment.includes(".") && (request.headers.accept ?? "*/*").match(/text\/html|\*\/\*/) !== null;
}

/** Canonical links, the sitemap and link previews start with the site's `publicUrl`. */
export async function registerClient(app: App, site: Site, folder: URL = clientFolder): Promise<void> {
  if (!existsSync(new URL("pages.json", folder))) {
    app.setNotFoundHandler((_request, reply) => sendNotFound(reply));
    return;
  }
  const root = fileURLToPath(folder);
  const kept = fileURLToPath(new URL("kept/", folder));
  await app.register(fastifyStatic, {
    // `kept` has the assets of the last two releases, for pages that were open during a deployment.
    root: [root, kept],
    wildcard: true,
    index: false,
    cacheControl: false,
    preCompressed: true,
    allowedPath: (path) => !notServed.test(path),
    setHeaders(reply, path) {
      const immutable = path.startsWith(`${root}assets/`) || path.startsWith(`${kept}assets/`);
      reply.header("cache-control", immutable ? "public, max-age=31536000, immutable" : "no-cache");
      if (/\/speculation-rules\.json$/.test(path)) reply.type("application/speculationrules+json");
    },
  });
  const pages = await registerPages(app, folder, site);
  app.setNotFoundHandler((request, reply) => (wantsPage(request) ? pages.answer(request, reply) : sendNotFound(reply)));
}
