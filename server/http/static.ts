/** The built client: hashed assets immutable, pages by language (pages.ts); a missing asset is a 404, never HTML. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { FastifyRequest } from "fastify";
import type { App } from "./app-type.ts";
import { registerPages } from "./pages.ts";
import { sendNotFound } from "./problem.ts";

const clientFolder = new URL("../../client/dist/", import.meta.url);

/** What the server or the build reads there: pages still lack the product's address, older assets have their own, the template is no page. */
const notServed = /^\/(pages|kept)(\/|$)|^\/(releases\.json|index\.html)|\/\./;

function wantsPage(request: FastifyRequest): boolean {
  const path = request.url.split("?")[0] ?? "";
  const lastSegment = path.slice(path.lastIndexOf("/") + 1);
  if (!["GET", "HEAD"].includes(request.method) || path.startsWith("/api/") || path.startsWith("/assets/")) return false;
  return !lastSegment.includes(".") && (request.headers.accept ?? "*/*").match(/text\/html|\*\/\*/) !== null;
}

/** `publicUrl` stands in canonical addresses, the sitemap and previews. */
export async function registerClient(app: App, publicUrl: URL, folder: URL = clientFolder): Promise<void> {
  if (!existsSync(new URL("pages.json", folder))) {
    app.setNotFoundHandler((_request, reply) => sendNotFound(reply));
    return;
  }
  const root = fileURLToPath(folder);
  const kept = fileURLToPath(new URL("kept/", folder));
  await app.register(fastifyStatic, {
    // The last two releases' assets, for pages that were open while this one went out.
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
  const pages = await registerPages(app, folder, publicUrl.origin);
  app.setNotFoundHandler((request, reply) => (wantsPage(request) ? pages.answer(request, reply) : sendNotFound(reply)));
}
