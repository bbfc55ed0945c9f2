import { Type } from "typebox";
import type { RouteContract } from "../route.ts";
import { Account } from "./account.ts";

const Pixels = Type.Integer({ minimum: 0, maximum: 100_000 });

export const profileRoutes = {
  "PATCH /api/account": {
    summary: "Change the person's name (null: none) or the language of their mails",
    body: Type.Object(
      {
        name: Type.Optional(Type.Union([Type.String({ maxLength: 2_000 }), Type.Null()])),
        language: Type.Optional(Type.String({ maxLength: 35 })),
      },
      { additionalProperties: false },
    ),
    response: { 200: Account },
  },
  "PUT /api/account/avatar": {
    summary: "Give the account a picture: the body is a JPEG, PNG, WebP, AVIF or GIF. Without a crop its middle square is kept",
    querystring: Type.Object(
      { left: Type.Optional(Pixels), top: Type.Optional(Pixels), side: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })) },
      { additionalProperties: false },
    ),
    response: { 200: Account },
  },
  "DELETE /api/account/avatar": {
    summary: "Take the account's picture away",
    response: { 200: Account },
  },
} as const satisfies Record<string, RouteContract>;
