import { adminSettingsRoutes as contract } from "../../contract/settings.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { steppedUpScope } from "../../http/viewer.ts";
import { adminScope, clerkOf } from "../team/service.ts";
import { changeSetting, listSettings } from "./service.ts";

/** For the signed-in scope. For admins alone: support is not to see how the installation is set up. */
export function settingsRoutes(deps: Deps): Routes {
  const dangerous: Routes = async (app) => {
    app.put("/api/admin/settings/:name", { schema: contract["PUT /api/admin/settings/:name"] }, async (request) =>
      changeSetting(deps, clerkOf(request), request.params.name, request.body),
    );
  };
  return adminScope(deps, [
    async (app) => {
      app.get("/api/admin/settings", { schema: contract["GET /api/admin/settings"] }, async () => listSettings(deps));
      await app.register(steppedUpScope([dangerous]));
    },
  ]);
}
