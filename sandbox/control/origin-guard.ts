import { isIP } from "node:net";
import type { FastifyRequest } from "fastify";
import { ControlProblem } from "./problem.ts";

function hostName(host: string): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, "") : "";
}

/**
 * The sandbox has no sign-in, and every page in the browser can send requests to it. So it accepts changes only from its own
 * pages and from scripts, and no requests for other host names, which someone may have pointed at this machine (DNS rebinding).
 */
export function refuseForeignOrigins(sandboxOrigin: URL): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const host = request.headers.host ?? "";
    const name = hostName(host);
    if (host !== sandboxOrigin.host && name !== "localhost" && isIP(name) === 0) {
      throw new ControlProblem(421, "misdirected_request", `The sandbox does not answer for “${host}”; if it should, set SANDBOX_URL.`);
    }
    if (request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS") return;
    const site = request.headers["sec-fetch-site"];
    const origin = request.headers.origin;
    if (site !== undefined ? site === "same-origin" || site === "none" : origin === undefined || isOwnOrigin(origin, host, sandboxOrigin))
      return;
    throw new ControlProblem(403, "forbidden_origin", "Only the sandbox's own pages and scripts may change it.");
  };
}

function isOwnOrigin(origin: string, host: string, sandboxOrigin: URL): boolean {
  return origin === sandboxOrigin.origin || (URL.canParse(origin) && new URL(origin).host === host);
}
