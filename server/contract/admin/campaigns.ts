import type { Static } from "typebox";
import { Type } from "typebox";
import { Campaign } from "../billing/campaigns.ts";
import type { RouteContract } from "../route.ts";
import { tablePage, tableQuery } from "../tables.ts";

const CampaignsQuery = tableQuery(Type.Union([Type.Literal("start"), Type.Literal("end"), Type.Literal("percent")]), {
  state: Type.Optional(Campaign.properties.state),
});
export type CampaignsQuery = Static<typeof CampaignsQuery>;

export const adminCampaignRoutes = {
  "GET /api/admin/campaigns": {
    summary: "For admins: the discount campaigns, the latest first",
    querystring: CampaignsQuery,
    response: { 200: tablePage(Campaign) },
  },
  "GET /api/admin/campaigns.csv": {
    summary: "For admins: the same as CSV",
    querystring: CampaignsQuery,
    response: { 200: Type.Any({ description: "text/csv" }) },
  },
} as const satisfies Record<string, RouteContract>;
