import type { Receipt } from "#contract/generations/generations.ts";
import type { Model } from "#domain/models.ts";
import { quoteCredits } from "#domain/pricing.ts";

/** What the same question costs again: of pictures, a recording or a text to be read, what the receipt counts. */
export function priceAgain(
  model: Pick<Model, "credits" | "unit">,
  receipt: Pick<Receipt, "picture" | "recording" | "speech"> | null,
): number {
  const { picture, recording, speech } = receipt ?? {};
  return quoteCredits(model, {
    images: picture?.count ?? 1,
    seconds: (recording?.durationMs ?? 0) / 1_000,
    characters: speech?.characters ?? 0,
  });
}
