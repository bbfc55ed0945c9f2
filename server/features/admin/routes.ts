import { catalogueRoutes as contract } from "../../contract/catalogue.ts";
import type { Routes } from "../../http/app-type.ts";
import { optionalViewerOf } from "../../http/viewer.ts";

/** For a public scope, which has just read the role from the database. A visitor is not an admin (spec §6). */
export function adminRoutes(): Routes {
  return async (app) => {
    app.post("/api/functions/verify-admin", { schema: contract["POST /api/functions/verify-admin"] }, async (request) => ({
      isAdmin: optionalViewerOf(request)?.role === "admin",
    }));
  };
}
