/** The built client: hashed assets immutable, the shell revalidated; a missing asset is a 404, never HTML. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "./app-type.ts";
import { sendNotFound } from "./problem.ts";

export const clientFolder = new URL("../../client/dist/", import.meta.url);

function wantsPage(request: FastifyRequest): boolean {
  const path = request.url.split("?")[0] ?? "";
  const lastSegment = path.slice(path.lastIndexOf("/") + 1);
  if (!["GET", "HEAD"].includes(request.method) || path.startsWith("/api/") || path.startsWith("/assets/")) return false;
  return !lastSegment.includes(".") && (request.headers.accept ?? "*/*").match(/text\/html|\*\/\*/) !== null;
}

export async function registerClient(app: App, folder: URL = clientFolder): Promise<void> {
  const root = fileURLToPath(folder);
  const built = existsSync(new URL("index.html", folder));
  if (built) {
    await app.register(fastifyStatic, {
      root,
      wildcard: true,
      index: false,
      cacheControl: false,
      setHeaders(reply, path) {
        const immutable = path.startsWith(`${root}assets/`);
        reply.header("cache-control", immutable ? "public, max-age=31536000, immutable" : "no-cache");
      },
    });
  }
  const sendPage = (request: FastifyRequest, reply: FastifyReply) =>
    built && wantsPage(request)
      ? reply.header("cache-control", "no-cache").type("text/html; charset=utf-8").sendFile("index.html")
      : sendNotFound(reply);
  app.setNotFoundHandler(sendPage);
  if (built) app.get("/", { schema: { hide: true } }, sendPage);
}
