import type { Receipt } from "#contract/generations/generations.ts";
import type { Model } from "#domain/models.ts";
import { quoteCredits } from "#domain/pricing.ts";

/** What asking again costs. The number of pictures, seconds or characters comes from the receipt. */
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
