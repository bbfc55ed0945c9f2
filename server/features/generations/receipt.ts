import type { PictureOptions, Receipt } from "../../contract/generations.ts";
import type { ClipOptions } from "../../contract/media.ts";
import type { GenerationRow } from "../../db/types-answers.ts";

/** How pictures or a clip were asked for. */
export function wishOf(options: object | null): { picture?: PictureOptions; clip?: ClipOptions } {
  if (options === null) return {};
  return "clip" in options ? { clip: options.clip as ClipOptions } : { picture: options as PictureOptions };
}

export function toReceipt(row: GenerationRow): Receipt {
  return {
    generationId: row.id,
    modelId: row.model_id,
    status: row.status,
    heldCredits: row.quoted_credits,
    chargedCredits: row.charged_credits,
    availableAfter: row.available_after,
    failureCode: row.failure_code,
    cutShort: row.cut_short,
    trimmedMessages: row.trimmed_messages,
    ...wishOf(row.options),
    createdAt: row.created_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
  };
}
