import type { Draft } from "#client/offline/drafts.ts";
import type { GivenPrompt } from "#client/offline/given-prompt.ts";

export interface ArrivingDrafts {
  /** What the composer shows. */
  draft: Draft | undefined;
  /** The earlier draft that it replaced, which the person can restore. */
  aside: Draft | undefined;
}

function hasText(draft: Draft | undefined): draft is Draft {
  return draft !== undefined && draft.text.trim() !== "";
}

/**
 * A prompt from the address fills the composer; a model without a prompt replaces the draft's model, because somebody has just tapped it.
 * The draft that was there is put aside, in front of one that was put aside earlier, so that nothing is lost.
 */
export function arrivingDrafts(kept: Draft | undefined, aside: Draft | undefined, given: GivenPrompt | undefined): ArrivingDrafts {
  const modelId = given?.modelId ?? kept?.modelId ?? null;
  if (!given || given.text.trim() === "")
    return { draft: modelId === (kept?.modelId ?? null) ? kept : { text: "", ...kept, modelId, unsettledKey: null }, aside };
  // The same address was opened again. Keep the draft: it may have the key of a send whose outcome we don't know.
  if (kept?.text === given.text) return { draft: { ...kept, modelId }, aside };
  const draft: Draft = { text: given.text, modelId, unsettledKey: null };
  if (!hasText(kept)) return { draft, aside };
  if (!hasText(aside)) return { draft, aside: kept };
  return { draft, aside: { ...kept, text: `${kept.text}\n\n${aside.text}`, unsettledKey: null } };
}
