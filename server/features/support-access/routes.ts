import { supportAccessRoutes as contract } from "../../contract/support-access.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { viewerOf } from "../../http/viewer.ts";
import { clerkOf } from "../team/service.ts";
import { endSupportAccess, giveSupportAccess, readSupportAccess } from "./service.ts";

/** For the signed-in scope: the person's own. What the team does is among the routes of its panel. */
export function supportAccessRoutes(deps: Pick<Deps, "db" | "clock" | "live" | "log">): Routes {
  return async (app) => {
    app.get("/api/account/support-access", { schema: contract["GET /api/account/support-access"] }, async (request) =>
      readSupportAccess(deps, viewerOf(request).userId),
    );
    app.put("/api/account/support-access", { schema: contract["PUT /api/account/support-access"] }, async (request) =>
      giveSupportAccess(deps, clerkOf(request), request.body.days),
    );
    app.delete("/api/account/support-access", { schema: contract["DELETE /api/account/support-access"] }, async (request) =>
      endSupportAccess(deps, clerkOf(request)),
    );
  };
}
