import { AdminModel, adminModelRoutes as contract } from "../../contract/admin/models.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { steppedUpScope } from "../../http/viewer.ts";
import { sendRows } from "../team/downloads.ts";
import { adminScope, clerkOf, teamScope } from "../team/service.ts";
import { dropPriceAs, listAdminModels, planPriceAs, previewPrice, switchModelAs } from "./models.ts";

function reading(deps: Deps): Routes {
  return async (app) => {
    app.get("/api/admin/models", { schema: contract["GET /api/admin/models"] }, async ({ query }) => ({
      rows: await listAdminModels(deps, query),
      nextCursor: null,
    }));
    app.get("/api/admin/models.csv", { schema: contract["GET /api/admin/models.csv"] }, async (request, reply) =>
      sendRows({ deps, request, reply, list: "models" }, AdminModel, await listAdminModels(deps, request.query)),
    );
    app.get(
      "/api/admin/models/:modelId/price-preview",
      { schema: contract["GET /api/admin/models/:modelId/price-preview"] },
      async ({ params, query }) => previewPrice(deps, params.modelId, query.credits),
    );
  };
}

/** Each act has a reason, which the audit log keeps. */
function acting(deps: Deps): Routes {
  return async (app) => {
    app.put("/api/admin/models/:modelId/switch", { schema: contract["PUT /api/admin/models/:modelId/switch"] }, async (request) =>
      switchModelAs(deps, clerkOf(request), request.params.modelId, request.body),
    );
    app.post("/api/admin/models/:modelId/prices", { schema: contract["POST /api/admin/models/:modelId/prices"] }, async (request) =>
      planPriceAs(deps, clerkOf(request), request.params.modelId, request.body),
    );
    app.post(
      "/api/admin/models/:modelId/prices/drop",
      { schema: contract["POST /api/admin/models/:modelId/prices/drop"] },
      async (request) => dropPriceAs(deps, clerkOf(request), request.params.modelId, request.body),
    );
  };
}

/** For the signed-in scope. */
export function adminModelRoutes(deps: Deps): Routes {
  return async (app) => {
    await app.register(teamScope(deps, [reading(deps)]));
    await app.register(adminScope(deps, [steppedUpScope([acting(deps)])]));
  };
}
