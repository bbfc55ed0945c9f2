import type { Static } from "typebox";
import { Type } from "typebox";
import { NoBody, Timestamp, Uuid } from "./common.ts";
import type { RouteContract } from "./route.ts";

const Later = Type.Union([Timestamp, Type.Null()]);

export const DataExport = Type.Object({
  id: Uuid,
  /** `failed`: the last try failed, and the worker tries again by itself. */
  status: Type.Union([Type.Literal("making"), Type.Literal("failed"), Type.Literal("ready"), Type.Literal("expired")]),
  askedAt: Timestamp,
  /** Until when the file can be downloaded; null until it is made. */
  expiresAt: Later,
  bytes: Type.Union([Type.Integer(), Type.Null()]),
});
export type DataExport = Static<typeof DataExport>;

export const LatestExport = Type.Object({ latest: Type.Union([DataExport, Type.Null()]) });
export type LatestExport = Static<typeof LatestExport>;

const File = Type.Any({ description: "application/zip" });

export const ownDataRoutes = {
  "GET /api/account/exports": {
    summary: "The person's latest export of their own data",
    response: { 200: LatestExport },
  },
  "POST /api/account/exports": {
    summary:
      "Have all of one's data put into a zip file. The person gets a mail when it is there. While one is being made, the answer is that one. " +
      "Needs a recent step-up",
    body: NoBody,
    response: { 202: LatestExport },
  },
  "GET /api/account/exports/:id/file": {
    summary: "The zip file. 24 hours after it was made: 410 `export_gone`",
    params: Type.Object({ id: Uuid }),
    response: { 200: File },
  },
} as const satisfies Record<string, RouteContract>;
