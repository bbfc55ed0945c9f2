import type { Static } from "typebox";
import { Type } from "typebox";
import { presetRanges } from "../../domain/figures.ts";
import { Credits } from "../common.ts";
import type { RouteContract } from "../route.ts";

export const UsageRange = Type.Enum([...presetRanges]);
export type UsageRange = Static<typeof UsageRange>;

/** A day in UTC: 2026-03-10. */
const Day = Type.String({ format: "date" });

export const Usage = Type.Object({
  /** The first and the last day of the range. */
  from: Day,
  to: Day,
  unit: Type.Union([Type.Literal("day"), Type.Literal("month")]),
  /** What was charged, for each model and each day or month in which it was used, by time and then by model. */
  sums: Type.Array(Type.Object({ start: Day, modelId: Type.String(), answers: Type.Integer({ minimum: 1 }), credits: Credits })),
});
export type Usage = Static<typeof Usage>;

export const usageRoutes = {
  "GET /api/credits/usage": {
    summary: "Credits spent on answers by day (or month, over twelve months) and model, in days of UTC",
    querystring: Type.Object({ range: UsageRange }, { additionalProperties: false }),
    response: { 200: Usage },
  },
} as const satisfies Record<string, RouteContract>;
