/** What admins do with discount campaigns; the panel lists them (features/admin/). For others there is nothing at these addresses. */
import { campaignRoutes } from "../../contract/billing/campaigns.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { steppedUpScope } from "../../http/viewer.ts";
import { adminScope, clerkOf } from "../team/service.ts";
import { endCampaign, planCampaign, readCampaignResults } from "./campaigns.ts";

/** For the signed-in scope. */
export function billingTeamRoutes(deps: Deps): Routes {
  const dangerous: Routes = async (app) => {
    app.post("/api/admin/campaigns", { schema: campaignRoutes["POST /api/admin/campaigns"] }, async (request) =>
      planCampaign(deps, clerkOf(request), request.body),
    );
    app.post("/api/admin/campaigns/end", { schema: campaignRoutes["POST /api/admin/campaigns/end"] }, async (request, reply) => {
      await endCampaign(deps, clerkOf(request), request.body);
      return reply.code(204).send(null);
    });
  };
  return adminScope(deps, [
    async (app) => {
      const results = "GET /api/admin/campaigns/:campaignId/results";
      app.get(results.slice("GET ".length), { schema: campaignRoutes[results] }, async (request) =>
        readCampaignResults(deps, request.params.campaignId),
      );
      await app.register(steppedUpScope([dangerous]));
    },
  ]);
}
