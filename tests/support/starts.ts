/** A start and its end as the service writes them down, for tests that call PostgreSQL without a model behind it. */
import { randomBytes, randomUUID } from "node:crypto";
import { v7 as uuidv7 } from "uuid";
import type { EndRow } from "#server/features/generations/ends.ts";
import type { StartRow } from "#server/features/generations/starts.ts";

const owner = randomUUID();

/** The first question of a conversation, or the next one of `conversationId`; null: without a conversation. */
export function startOf(userId: string, conversationId?: string | null): StartRow {
  const turn = {
    conversationId: conversationId ?? uuidv7(),
    isNew: conversationId === undefined,
    title: "Hello",
    parentId: null,
    questionId: uuidv7(),
    answerId: uuidv7(),
    prompt: "Hello",
  };
  return {
    id: uuidv7(),
    userId,
    modelId: "gpt-6-luna",
    idempotencyKey: randomUUID(),
    requestHash: randomBytes(32),
    credits: 1,
    priceVersion: "test",
    kinds: ["adjustment"],
    refused: false,
    holdId: null,
    turn: conversationId === null ? null : turn,
    trimmedMessages: 0,
    requestsPerMinute: 10,
    concurrentAnswers: 2,
    owner,
    leaseMs: 60_000,
    holdMs: 60_000,
    now: new Date(),
  };
}

/** The end of an answer that completed and is charged in full. */
export function endOf({ id, owner, credits, kinds, now }: StartRow): EndRow {
  return {
    id,
    owner,
    status: "completed",
    failureCode: null,
    cutShort: false,
    chargedCredits: credits,
    parts: [{ kind: "text", text: "Hello to you" }],
    promptTokens: 12,
    completionTokens: 12,
    costMicroDollars: 30,
    lastFrames: undefined,
    kinds,
    now,
  };
}
