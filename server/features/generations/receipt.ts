import type { Receipt } from "../../contract/generations/generations.ts";
import type { GenerationRow } from "../../db/types-answers.ts";
import { fromStoredOptions } from "./answer-options.ts";

export function toReceipt(row: GenerationRow): Receipt {
  return {
    generationId: row.id,
    modelId: row.model_id,
    status: row.status,
    heldCredits: row.quoted_credits,
    chargedCredits: row.charged_credits,
    availableAfter: row.available_after,
    failureCode: row.failure_code,
    ...(row.filter_reason !== null && { filterReason: row.filter_reason }),
    cutShort: row.cut_short,
    trimmedMessages: row.trimmed_messages,
    ...(row.searches !== null && { searches: row.searches }),
    ...(row.thinking_tokens !== null && { thinkingTokens: row.thinking_tokens }),
    ...fromStoredOptions(row.options),
    createdAt: row.created_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
  };
}
