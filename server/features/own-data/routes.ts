import { ownDataRoutes as contract } from "../../contract/own-data.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { steppedUpScope, viewerOf } from "../../http/viewer.ts";
import { askForExport, openExport, readLatestExport } from "./exports.ts";

/** For a signed-in scope. */
export function ownDataRoutes(deps: Pick<Deps, "config" | "db" | "clock" | "storage">): Routes {
  const dangerous: Routes = async (app) => {
    app.post("/api/account/exports", { schema: contract["POST /api/account/exports"] }, async (request, reply) =>
      reply.code(202).send(await askForExport(deps, { userId: viewerOf(request).userId, network: clientNetwork(request.ip) })),
    );
    // A copy that is ready holds everything at once, so whoever has only a stolen token must not get it.
    app.get("/api/account/exports/:id/file", { schema: contract["GET /api/account/exports/:id/file"] }, async (request, reply) => {
      const by = { userId: viewerOf(request).userId, network: clientNetwork(request.ip) };
      const { bytes, content } = await openExport(deps, by, request.params.id);
      reply.raw.once("close", () => content.destroy());
      return reply
        .header("content-type", "application/zip")
        .header("content-length", bytes)
        .header("content-disposition", 'attachment; filename="tessera-data.zip"')
        .send(content);
    });
  };
  return async (app) => {
    app.get("/api/account/exports", { schema: contract["GET /api/account/exports"] }, async (request) =>
      readLatestExport(deps, viewerOf(request).userId),
    );
    await steppedUpScope([dangerous])(app);
  };
}
