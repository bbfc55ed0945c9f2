import { authRoutes as contract } from "../../contract/auth.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { viewerOf } from "../../http/viewer.ts";
import { readAccount } from "./service.ts";

/** For a signed-in scope. */
export function accountRoutes(deps: Pick<Deps, "db">): Routes {
  return async (app) => {
    app.get("/api/account", { schema: contract["GET /api/account"] }, async (request) => readAccount(deps.db, viewerOf(request).userId));
  };
}
