import { authRoutes as contract } from "../../contract/auth.ts";
import { securityRoutes } from "../../contract/security.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { viewerOf } from "../../http/viewer.ts";
import { readActivity } from "./activity.ts";
import { readAccount } from "./service.ts";

/** For a signed-in scope. */
export function accountRoutes(deps: Pick<Deps, "db">): Routes {
  return async (app) => {
    app.get("/api/account", { schema: contract["GET /api/account"] }, async (request) => readAccount(deps.db, viewerOf(request).userId));
    app.get("/api/account/activity", { schema: securityRoutes["GET /api/account/activity"] }, async (request) =>
      readActivity(deps.db, viewerOf(request).userId, request.query.cursor),
    );
  };
}
