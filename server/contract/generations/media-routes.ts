/** What people do with pictures, clips and sounds beside asking for them. */
import { Type } from "typebox";
import { Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { Answer } from "./generations.ts";
import { GalleryPicture } from "./media.ts";

const byId = Type.Object({ id: Uuid });

export const mediaRoutes = {
  "GET /api/generations/:id/sound": {
    summary: "The latest answer in which this one was read aloud; null if none was, or it failed",
    params: byId,
    response: { 200: Type.Object({ answer: Type.Union([Answer, Type.Null()]) }) },
  },
  "GET /api/voices/:model/:voice/sample": {
    summary: "What a voice sounds like: a few words, as an MP3. Free",
    params: Type.Object({ model: Type.String({ maxLength: 100 }), voice: Type.String({ maxLength: 100 }) }),
    response: { 200: Type.Any({ description: "audio/mpeg" }) },
  },
  "GET /api/pictures": {
    summary:
      "The pictures, and if asked for the clips, that models have made for the person, latest first. They are read and deleted as files",
    querystring: Type.Object(
      {
        clips: Type.Optional(Type.Boolean()),
        cursor: Type.Optional(Type.String({ maxLength: 200 })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      },
      { additionalProperties: false },
    ),
    response: { 200: Type.Object({ pictures: Type.Array(GalleryPicture), nextCursor: Type.Union([Type.String(), Type.Null()]) }) },
  },
} as const satisfies Record<string, RouteContract>;
