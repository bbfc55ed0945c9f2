/** Discounts on the first period, each for the people that it names. The calls are for admins; others get `not_found`. */
import type { Static } from "typebox";
import { Type } from "typebox";
import { campaignAudiences, endedDaysLimits } from "../../domain/campaigns.ts";
import { planKeys } from "../../domain/plans.ts";
import { Reason } from "../admin/team.ts";
import { Cents, NoContent, Timestamp, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";

const Percent = Type.Integer({ minimum: 1, maximum: 90 });

const Count = Type.Integer({ minimum: 0 });

const Audience = Type.Enum([...campaignAudiences]);
const EndedDays = Type.Integer({ minimum: endedDaysLimits.min, maximum: endedDaysLimits.max });
const Plans = Type.Array(Type.Enum([...planKeys]), { minItems: 1, uniqueItems: true });

export const Campaign = Type.Object({
  id: Uuid,
  percent: Percent,
  audience: Audience,
  /** For the audience `left`: how many days ago their plan must have ended. */
  endedDays: Type.Union([EndedDays, Type.Null()]),
  /** Null: for every plan. */
  plans: Type.Union([Plans, Type.Null()]),
  startsAt: Timestamp,
  endsAt: Timestamp,
  state: Type.Union([Type.Literal("planned"), Type.Literal("running"), Type.Literal("over")]),
});
export type Campaign = Static<typeof Campaign>;

/** What a campaign brought so far. */
export const CampaignResults = Type.Object({
  /** Orders with its discount that became a plan. */
  orders: Count,
  /** How many of these plans run now. */
  running: Count,
  /** The first payments. */
  revenueCents: Cents,
  /** How much of them went back, by refunds or lost disputes. */
  returnedCents: Cents,
  /** What the discount took off them. */
  discountCents: Cents,
});
export type CampaignResults = Static<typeof CampaignResults>;

export const NewCampaign = Type.Object(
  {
    percent: Percent,
    /** Without it, `new`. */
    audience: Type.Optional(Audience),
    /** For the audience `left`, and only for it. */
    endedDays: Type.Optional(EndedDays),
    /** Without it, every plan. */
    plans: Type.Optional(Plans),
    startsAt: Timestamp,
    endsAt: Timestamp,
    reason: Reason,
  },
  { additionalProperties: false },
);
export type NewCampaign = Static<typeof NewCampaign>;

export const EndedCampaign = Type.Object({ campaignId: Uuid, reason: Reason }, { additionalProperties: false });
export type EndedCampaign = Static<typeof EndedCampaign>;

export const campaignRoutes = {
  "GET /api/admin/campaigns/:campaignId/results": {
    summary: "For admins: what a campaign brought so far",
    params: Type.Object({ campaignId: Uuid }),
    response: { 200: CampaignResults },
  },
  "POST /api/admin/campaigns": {
    summary: "For admins: plan a campaign, at a time at which no other one runs. May answer `step_up_required`",
    body: NewCampaign,
    response: { 200: Campaign },
  },
  "POST /api/admin/campaigns/end": {
    summary: "For admins: end a campaign now; one that has not begun is dropped. May answer `step_up_required`, `conflict`, `not_found`",
    body: EndedCampaign,
    response: { 204: NoContent },
  },
} as const satisfies Record<string, RouteContract>;
