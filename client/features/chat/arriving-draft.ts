import type { Draft } from "#client/offline/drafts.ts";
import type { GivenPrompt } from "#client/offline/given-prompt.ts";

export interface ArrivingDrafts {
  /** What the composer shows. */
  draft: Draft | undefined;
  /** What had to make room, to be brought back. */
  aside: Draft | undefined;
}

function hasText(draft: Draft | undefined): draft is Draft {
  return draft !== undefined && draft.text.trim() !== "";
}

/** A prompt brought along fills the composer; what stood there is put aside, before what was aside already. Nothing is lost. */
export function arrivingDrafts(kept: Draft | undefined, aside: Draft | undefined, given: GivenPrompt | undefined): ArrivingDrafts {
  if (!given || given.text.trim() === "") return { draft: kept, aside };
  const modelId = given.modelId ?? kept?.modelId ?? null;
  // The same address opened again: the draft may know of a send whose fate is open.
  if (kept?.text === given.text) return { draft: { ...kept, modelId }, aside };
  const draft: Draft = { text: given.text, modelId, unsettledKey: null };
  if (!hasText(kept)) return { draft, aside };
  if (!hasText(aside)) return { draft, aside: kept };
  return { draft, aside: { ...kept, text: `${kept.text}\n\n${aside.text}`, unsettledKey: null } };
}
