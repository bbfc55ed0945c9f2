import { catalogueRoutes as contract } from "../../contract/catalogue.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { noticeOf } from "../settings/service.ts";
import { listModels } from "./service.ts";

export function catalogueRoutes(deps: Pick<Deps, "models" | "config" | "clock" | "settings" | "switches">): Routes {
  return async (app) => {
    app.get("/api/models", { schema: contract["GET /api/models"] }, async () => listModels(deps));
    app.get("/api/environment", { schema: contract["GET /api/environment"] }, async () => ({
      sandboxUrl: deps.config.sandbox?.url.href ?? null,
      google: deps.config.google !== undefined,
      notice: noticeOf(deps),
      serverTime: deps.clock.now().toISOString(),
    }));
  };
}
