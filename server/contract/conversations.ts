import type { Static } from "typebox";
import { Type } from "typebox";
import { NoContent, Timestamp, Uuid } from "./common.ts";
import { AttachedFile, Part, Receipt } from "./generations/generations.ts";
import type { RouteContract } from "./route.ts";

/** What a message is made of: a question may have files. */
export const MessagePart = Type.Union([Part, Type.Object({ kind: Type.Literal("attachments"), files: Type.Array(AttachedFile) })]);
export type MessagePart = Static<typeof MessagePart>;

/** An answer has a receipt. It has no parts while it runs, or if it ended without a word. */
export const Message = Type.Object({
  id: Uuid,
  /** The message before it; null for a question that begins the conversation. Messages with the same one are versions of each other. */
  parentId: Type.Union([Uuid, Type.Null()]),
  role: Type.Union([Type.Literal("user"), Type.Literal("assistant")]),
  parts: Type.Array(MessagePart),
  timestamp: Timestamp,
  receipt: Type.Union([Receipt, Type.Null()]),
});
export type Message = Static<typeof Message>;
export const ConversationSummary = Type.Object({
  id: Uuid,
  title: Type.String(),
  pinned: Type.Boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type ConversationSummary = Static<typeof ConversationSummary>;
export const Conversation = Type.Object({
  ...ConversationSummary.properties,
  /** A page of the messages of all branches, oldest first. */
  messages: Type.Array(Message),
  /** The first message of the page, if there are earlier ones; null: there are none. */
  earlierThan: Type.Union([Uuid, Type.Null()]),
  /** The end of the branch that is shown. */
  headId: Type.Union([Uuid, Type.Null()]),
  /** An answer that still runs: read its events at GET /api/generations/:id/events. */
  streamingGenerationId: Type.Union([Uuid, Type.Null()]),
});
export type Conversation = Static<typeof Conversation>;

/** A conversation whose title or messages contain the query. `excerpt` is from the message, null if only the title matches. */
export const FoundConversation = Type.Object({
  conversation: ConversationSummary,
  excerpt: Type.Union([Type.Object({ before: Type.String(), match: Type.String(), after: Type.String() }), Type.Null()]),
});
export type FoundConversation = Static<typeof FoundConversation>;

const byId = Type.Object({ id: Uuid });

export const conversationRoutes = {
  "GET /api/conversations": {
    summary: "The person's conversations: pinned ones, then the others, each latest first",
    querystring: Type.Object(
      { cursor: Type.Optional(Type.String({ maxLength: 200 })), limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })) },
      { additionalProperties: false },
    ),
    response: {
      200: Type.Object({ conversations: Type.Array(ConversationSummary), nextCursor: Type.Union([Type.String(), Type.Null()]) }),
    },
  },
  "GET /api/conversations/:id": {
    summary: "One conversation with its hundred newest messages and their receipts, or the hundred before the message `before`",
    params: byId,
    querystring: Type.Object({ before: Type.Optional(Uuid) }, { additionalProperties: false }),
    response: { 200: Conversation },
  },
  "POST /api/conversations/gone": {
    summary: "Of these conversations those that are not the person's (any more): a device deletes its copies of them",
    body: Type.Object({ ids: Type.Array(Uuid, { maxItems: 100 }) }, { additionalProperties: false }),
    response: { 200: Type.Object({ gone: Type.Array(Uuid) }) },
  },
  "GET /api/conversations/search": {
    summary: "Conversations with these words in title or text, latest first. A page may be empty and not the last",
    querystring: Type.Object(
      { query: Type.String({ maxLength: 200 }), cursor: Type.Optional(Type.String({ maxLength: 200 })) },
      { additionalProperties: false },
    ),
    response: { 200: Type.Object({ found: Type.Array(FoundConversation), nextCursor: Type.Union([Type.String(), Type.Null()]) }) },
  },
  "PATCH /api/conversations/:id": {
    summary: "Rename a conversation, pin it or unpin it, or show another of its branches by the message that ends it",
    params: byId,
    body: Type.Object(
      { title: Type.Optional(Type.String({ maxLength: 1_000 })), pinned: Type.Optional(Type.Boolean()), headId: Type.Optional(Uuid) },
      { additionalProperties: false, minProperties: 1 },
    ),
    response: { 200: ConversationSummary },
  },
  "DELETE /api/conversations/:id": { summary: "Delete a conversation; its receipts stay", params: byId, response: { 204: NoContent } },
} as const satisfies Record<string, RouteContract>;
