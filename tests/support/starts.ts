/** A start as the service writes it down, for tests that call PostgreSQL without a model behind it. */
import { randomBytes, randomUUID } from "node:crypto";
import { v7 as uuidv7 } from "uuid";
import type { StartRow } from "#server/features/generations/queries.ts";

const owner = randomUUID();

export function startOf(userId: string, conversationId: string | null = null): StartRow {
  return {
    id: uuidv7(),
    userId,
    modelId: "gpt-5-mini",
    idempotencyKey: randomUUID(),
    requestHash: randomBytes(32),
    credits: 1,
    kinds: ["adjustment"],
    refused: false,
    conversationId,
    title: "Hello",
    prompt: "Hello",
    trimmedMessages: 0,
    requestsPerMinute: 10,
    concurrentAnswers: 2,
    owner,
    leaseMs: 60_000,
    holdMs: 60_000,
    now: new Date(),
  };
}
