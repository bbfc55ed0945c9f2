import { accountRoutes as contract } from "../../contract/account.ts";
import { securityRoutes } from "../../contract/security.ts";
import type { Routes } from "../../http/app-type.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { viewerOf } from "../../http/viewer.ts";
import type { AuthDeps } from "../auth/callers.ts";
import { stepUp } from "../auth/step-up.ts";
import { readActivity } from "./activity.ts";
import { readAccount } from "./service.ts";

/** For a signed-in scope. */
export function accountRoutes(deps: AuthDeps): Routes {
  return async (app) => {
    app.get("/api/account", { schema: contract["GET /api/account"] }, async (request) => readAccount(deps.db, viewerOf(request).userId));
    app.get("/api/account/activity", { schema: securityRoutes["GET /api/account/activity"] }, async (request) =>
      readActivity(deps.db, viewerOf(request).userId, request.query.cursor),
    );
    app.post("/api/account/step-up", { schema: contract["POST /api/account/step-up"] }, async (request, reply) => {
      await stepUp(deps, { ...viewerOf(request), network: clientNetwork(request.ip) }, request.body);
      return reply.code(204).send(null);
    });
  };
}
