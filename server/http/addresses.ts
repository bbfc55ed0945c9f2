/**
 * Each resource has one address and a list of methods. An address with a trailing or doubled slash is redirected to the one
 * without, never to another host. An unsupported method gets a 405 that lists the supported ones (RFC 9110 §15.5.6).
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "./app-type.ts";
import { sendProblem, toProblem } from "./problem.ts";

/** The route that serves the client's files (static.ts). It matches every address without a route of its own. */
export const fileRoute = "/*";
const readingMethods = ["GET", "HEAD"];

/** The address without doubled and trailing slashes, with its query; undefined if the address has none of them. */
export function plainAddress(url: string): string | undefined {
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  // Browsers treat a backslash as a slash, so a redirect to "/\evil.example" would lead to another host.
  const plain = path.replace(/[/\\]{2,}|\\/g, "/").replace(/(?<=.)\/$/, "");
  return plain === path || !path.startsWith("/") ? undefined : plain + url.slice(path.length);
}

/** The decoded path, which Fastify uses for routing too: "/%61pi/models" is the address "/api/models". */
function readPath(url: string): string {
  const path = url.split("?")[0] ?? "";
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** The methods of every address that has a route of its own. */
class Methods {
  private readonly byRoute = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  add(route: string, methods: readonly string[]): void {
    const pattern = new RegExp(`^${route.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/:\w+/g, "[^/]+")}$`);
    const known = this.byRoute.get(route) ?? { pattern, methods: new Set() };
    this.byRoute.set(route, known);
    for (const method of methods) known.methods.add(method);
  }

  /** The methods of an address, empty if it does not exist. Every address outside the API can be read, since it may be a file or a page. */
  at(path: string): string[] {
    const own = [...this.byRoute.values()].filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods]);
    return own.length > 0 || path.startsWith("/api/") ? [...new Set(own)].sort() : readingMethods;
  }
}

function answerOtherMethod(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): FastifyReply {
  reply.header("allow", [...allowed, "OPTIONS"].join(", "));
  if (request.method === "OPTIONS") return reply.code(204).send();
  return sendProblem(reply, toProblem(405, "method_not_allowed", `This address does not support ${request.method}`));
}

/** Call it before any route is registered, since it collects the routes. */
export function registerAddresses(app: App): void {
  const methods = new Methods();
  app.addHook("onRoute", ({ url, method }) => {
    if (url !== fileRoute) methods.add(url, [method].flat());
  });
  app.addHook("onRequest", async (request, reply) => {
    const plain = plainAddress(request.url);
    if (plain !== undefined) return reply.redirect(plain, 308);
    if (!request.is404 && request.routeOptions.url !== fileRoute) return;
    const allowed = methods.at(readPath(request.url));
    if (allowed.length > 0 && !allowed.includes(request.method)) return answerOtherMethod(request, reply, allowed);
  });
}
