import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import { supportAccessDays } from "../domain/support-access.ts";
import { Timestamp, Uuid } from "./common.ts";
import type { RouteContract } from "./route.ts";

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const SupportAccess = Type.Object({
  /** Until when the team may read; null: it may not. */
  until: orNull(Timestamp),
  /** When the team asked, while that is unanswered. */
  askedAt: orNull(Timestamp),
});
export type SupportAccess = Static<typeof SupportAccess>;

/** What a message was made of. `text`: the words; of a file its name, of a picture what it shows; null: nothing that can be read. */
const ReadPart = Type.Object({
  /** Its number in the message. */
  place: Type.Integer(),
  kind: Type.Union([
    Type.Literal("text"),
    Type.Literal("file"),
    Type.Literal("picture"),
    Type.Literal("clip"),
    Type.Literal("sound"),
    Type.Literal("source"),
  ]),
  text: orNull(Type.String()),
});
export type ReadPart = Static<typeof ReadPart>;

export const ReadMessage = Type.Object({
  id: Uuid,
  role: Type.Union([Type.Literal("user"), Type.Literal("assistant")]),
  at: Timestamp,
  /** The model that answered; null for a question. */
  model: orNull(Type.String()),
  parts: Type.Array(ReadPart),
});
export type ReadMessage = Static<typeof ReadMessage>;

/** An answer and what led to it, which the person lets the team read. */
export const ReadAnswer = Type.Object({
  /** Until when they do. */
  until: Timestamp,
  /** The title of its conversation; null: it is in none. */
  title: orNull(Type.String()),
  /** The oldest first, the answer last. */
  messages: Type.Array(ReadMessage),
  /** There are earlier ones. */
  isCut: Type.Boolean(),
});
export type ReadAnswer = Static<typeof ReadAnswer>;

export const supportAccessRoutes = {
  "GET /api/account/support-access": {
    summary: "Whether the team may read the person's conversations, or asks to",
    response: { 200: SupportAccess },
  },
  "PUT /api/account/support-access": {
    summary: "Let the team read one's conversations from now on, for these days",
    body: Type.Object({ days: Type.Enum([...supportAccessDays]) }, { additionalProperties: false }),
    response: { 200: SupportAccess },
  },
  "DELETE /api/account/support-access": {
    summary: "Take it back at once, or refuse the team's request",
    response: { 200: SupportAccess },
  },
} as const satisfies Record<string, RouteContract>;
