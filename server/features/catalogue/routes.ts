import { catalogueRoutes as contract } from "../../contract/catalogue.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { listModels } from "./service.ts";

export function catalogueRoutes(deps: Pick<Deps, "models" | "config" | "clock">): Routes {
  return async (app) => {
    app.get("/api/models", { schema: contract["GET /api/models"] }, async () => listModels(deps));
    app.get("/api/environment", { schema: contract["GET /api/environment"] }, async () => ({
      sandboxUrl: deps.config.sandbox?.url.href ?? null,
      google: deps.config.google !== undefined,
      serverTime: deps.clock.now().toISOString(),
    }));
  };
}
