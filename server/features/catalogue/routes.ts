import { isBuilt, models } from "#domain/models.ts";
import { catalogueRoutes as contract } from "../../contract/catalogue.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";

/** Adds to the catalogue of the domain which models this installation can reach now. */
export function catalogueRoutes(deps: Pick<Deps, "models" | "config" | "clock">): Routes {
  return async (app) => {
    app.get("/api/models", { schema: contract["GET /api/models"] }, async () => ({
      models: models.map((model) => ({
        id: model.id,
        name: model.name,
        provider: model.provider,
        category: model.category,
        credits: model.credits,
        unit: model.unit,
        available: isBuilt(model) && deps.models.isAvailable(model),
        sandbox: deps.models.isSandboxed(model),
      })),
    }));
    app.get("/api/environment", { schema: contract["GET /api/environment"] }, async () => ({
      sandboxUrl: deps.config.sandbox?.url.href ?? null,
      google: deps.config.google !== undefined,
      serverTime: deps.clock.now().toISOString(),
    }));
  };
}
