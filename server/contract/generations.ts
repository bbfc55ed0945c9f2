import type { Static } from "typebox";
import { Type } from "typebox";
import { Credits, NoBody, NoContent, Timestamp, Uuid } from "./common.ts";
import type { RouteContract } from "./route.ts";

export const GenerationStatus = Type.Union([
  Type.Literal("streaming"),
  Type.Literal("completed"),
  Type.Literal("stopped"),
  Type.Literal("failed"),
]);
export type GenerationStatus = Static<typeof GenerationStatus>;

/** Promise 3: a receipt on every answer. */
export const Receipt = Type.Object({
  generationId: Uuid,
  conversationId: Type.Union([Uuid, Type.Null()]),
  modelId: Type.String(),
  status: GenerationStatus,
  /** The binding price, held before the send. */
  heldCredits: Credits,
  /** Null while the answer is under way; 0 when nothing was charged. */
  chargedCredits: Type.Union([Credits, Type.Null()]),
  /** What could be spent right after. */
  availableAfter: Type.Union([Credits, Type.Null()]),
  failureCode: Type.Union([Type.String(), Type.Null()]),
  /** How many of the oldest messages were left out to fit the model's input. */
  trimmedMessages: Type.Integer({ minimum: 0 }),
  createdAt: Timestamp,
  endedAt: Type.Union([Timestamp, Type.Null()]),
});
export type Receipt = Static<typeof Receipt>;

/** The numbered server-sent events of one answer: `start`, any number of `delta`, then one `receipt`. */
export const StartEvent = Type.Object({
  generationId: Uuid,
  conversationId: Uuid,
  modelId: Type.String(),
  heldCredits: Credits,
  trimmedMessages: Type.Integer(),
});
export type StartEvent = Static<typeof StartEvent>;
export const DeltaEvent = Type.Object({ text: Type.String() });
export type DeltaEvent = Static<typeof DeltaEvent>;
export type GenerationEvent =
  | { event: "start"; data: StartEvent }
  | { event: "delta"; data: DeltaEvent }
  | { event: "receipt"; data: Receipt };

export const CreateGeneration = Type.Object(
  {
    model: Type.String({ maxLength: 100 }),
    prompt: Type.String({ maxLength: 200_000 }),
    conversationId: Type.Optional(Uuid),
    /** The price the person saw. Another price now: 409 `price_changed`, and nothing is held. */
    quotedCredits: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  },
  { additionalProperties: false },
);
export type CreateGeneration = Static<typeof CreateGeneration>;

export const Message = Type.Object({
  id: Uuid,
  role: Type.Union([Type.Literal("user"), Type.Literal("assistant")]),
  content: Type.String(),
  timestamp: Timestamp,
  receipt: Type.Union([Receipt, Type.Null()]),
});
export type Message = Static<typeof Message>;
export const ConversationSummary = Type.Object({ id: Uuid, title: Type.String(), createdAt: Timestamp, updatedAt: Timestamp });
export type ConversationSummary = Static<typeof ConversationSummary>;
export const Conversation = Type.Object({
  ...ConversationSummary.properties,
  messages: Type.Array(Message),
  /** An answer still under way: resume it at GET /api/generations/:id/events. */
  streamingGenerationId: Type.Union([Uuid, Type.Null()]),
});
export type Conversation = Static<typeof Conversation>;

const byId = Type.Object({ id: Uuid });
const EventStream = Type.Any({ description: "text/event-stream" });

export const generationRoutes = {
  "POST /api/generations": {
    summary: "Hold the price, ask the model and stream its answer as numbered server-sent events. Idempotency-Key required",
    headers: Type.Object({ "idempotency-key": Type.String({ minLength: 8, maxLength: 200 }) }),
    body: CreateGeneration,
    response: { 200: EventStream },
  },
  "GET /api/generations/:id": { summary: "The receipt", params: byId, response: { 200: Receipt } },
  "GET /api/generations/:id/events": {
    summary: "The same stream from after Last-Event-ID (or from the start), from any process",
    params: byId,
    headers: Type.Object({ "last-event-id": Type.Optional(Type.String({ pattern: "^[0-9]{1,9}$" })) }),
    response: { 200: EventStream },
  },
  "POST /api/generations/:id/stop": {
    summary: "Stop: free before any output, full price after",
    params: byId,
    body: NoBody,
    response: { 200: Receipt },
  },
  "GET /api/conversations": {
    summary: "The person's conversations, latest first",
    querystring: Type.Object(
      { cursor: Type.Optional(Type.String({ maxLength: 200 })), limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })) },
      { additionalProperties: false },
    ),
    response: {
      200: Type.Object({ conversations: Type.Array(ConversationSummary), nextCursor: Type.Union([Type.String(), Type.Null()]) }),
    },
  },
  "GET /api/conversations/:id": {
    summary: "One conversation with its messages and receipts",
    params: byId,
    response: { 200: Conversation },
  },
  "DELETE /api/conversations/:id": { summary: "Delete a conversation; its receipts stay", params: byId, response: { 204: NoContent } },
} as const satisfies Record<string, RouteContract>;
