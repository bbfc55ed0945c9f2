import type { FastifyRequest } from "fastify";
import { securityRoutes as contract } from "../../contract/auth/security.ts";
import type { Routes } from "../../http/app-type.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { viewerOf } from "../../http/viewer.ts";
import type { AuthDeps } from "./callers.ts";
import { endOtherSessions, endOwnSession, listSessions } from "./own-sessions.ts";
import { readWaysIn } from "./ways-in.ts";

/** For a signed-in scope. */
export function sessionRoutes(deps: AuthDeps): Routes {
  const askerOf = (request: FastifyRequest) => ({ ...viewerOf(request), network: clientNetwork(request.ip) });
  return async (app) => {
    app.get("/api/account/ways-in", { schema: contract["GET /api/account/ways-in"] }, async (request) =>
      readWaysIn(deps.db, viewerOf(request).userId),
    );
    app.get("/api/account/sessions", { schema: contract["GET /api/account/sessions"] }, async (request) => ({
      sessions: await listSessions(deps.db, viewerOf(request)),
    }));
    app.delete("/api/account/sessions/:id", { schema: contract["DELETE /api/account/sessions/:id"] }, async (request, reply) => {
      await endOwnSession(deps, askerOf(request), request.params.id);
      return reply.code(204).send(null);
    });
    app.delete("/api/account/sessions", { schema: contract["DELETE /api/account/sessions"] }, async (request) => ({
      ended: await endOtherSessions(deps, askerOf(request)),
    }));
  };
}
