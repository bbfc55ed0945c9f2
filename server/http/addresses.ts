/**
 * Each resource has one address and a list of methods. An address with a trailing or doubled slash is redirected to the one
 * without, never to another host. An unsupported method gets a 405 that lists the supported ones (RFC 9110 §15.5.6).
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HTTPMethod } from "find-my-way";
import createRouter from "find-my-way";
import type { App } from "./app-type.ts";
import { sendProblem, toProblem } from "./problem.ts";

/** The route that serves the client's files (static.ts). It matches every address without a route of its own. */
const fileRoute = "/*";
const readingMethods = ["GET", "HEAD"];

/** The address without doubled and trailing slashes, with its query; undefined if the address has none of them. */
export function plainAddress(url: string): string | undefined {
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  // Browsers treat a backslash as a slash, so a redirect to "/\evil.example" would lead to another host.
  const plain = path.replace(/[/\\]{2,}|\\/g, "/").replace(/(?<=.)\/$/, "");
  return plain === path || !path.startsWith("/") ? undefined : plain + url.slice(path.length);
}

/** The methods of every address that has a route of its own, found as Fastify finds its routes: by the same router. */
class Methods {
  private readonly router = createRouter();
  private readonly known = new Set<HTTPMethod>();

  add(route: string, methods: readonly string[]): void {
    for (const method of methods as HTTPMethod[]) {
      this.known.add(method);
      if (!this.router.hasRoute(method, route)) this.router.on(method, route, () => {});
    }
  }

  /** The methods of an address, empty if it does not exist. Every address outside the API can be read, since it may be a file or a page. */
  at(url: string): string[] {
    const own = [...this.known].filter((method) => this.router.find(method, url) !== null).sort();
    return own.length > 0 || /^\/api\//.test(url) ? own : readingMethods;
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
    const allowed = methods.at(request.url);
    if (allowed.length > 0 && !allowed.includes(request.method)) return answerOtherMethod(request, reply, allowed);
  });
}
