import { adminViewRoutes as contract } from "../../contract/admin/views.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { viewerOf } from "../../http/viewer.ts";
import { teamScope } from "../team/service.ts";
import { deleteView, readViews, renameView, saveView } from "./views.ts";

/** For the signed-in scope. */
export function adminViewRoutes(deps: Deps): Routes {
  return teamScope(deps, [
    async (app) => {
      app.get("/api/admin/views", { schema: contract["GET /api/admin/views"] }, async (request) => ({
        views: await readViews(deps.db, viewerOf(request).userId, request.query.list),
      }));
      app.post("/api/admin/views", { schema: contract["POST /api/admin/views"] }, async (request) => ({
        views: await saveView(deps, viewerOf(request).userId, request.body),
      }));
      app.patch("/api/admin/views/:viewId", { schema: contract["PATCH /api/admin/views/:viewId"] }, async (request) => ({
        views: await renameView(deps, viewerOf(request).userId, request.params.viewId, request.body.name),
      }));
      app.delete("/api/admin/views/:viewId", { schema: contract["DELETE /api/admin/views/:viewId"] }, async (request, reply) => {
        await deleteView(deps, viewerOf(request).userId, request.params.viewId);
        return reply.code(204).send(null);
      });
    },
  ]);
}
