import { describe, expect, it } from "vitest";
import { arrivingDrafts } from "#client/features/chat/arriving-draft.ts";
import type { Draft } from "#client/offline/drafts.ts";

const draft = (text: string, more: Partial<Draft> = {}): Draft => ({ text, modelId: null, unsettledKey: null, ...more });
const given = { text: "Write a notice", modelId: "gpt-5-mini" };

describe("a prompt brought from another page", () => {
  it("fills an empty composer with its text and model", () => {
    expect(arrivingDrafts(undefined, undefined, given)).toEqual({
      draft: draft("Write a notice", { modelId: "gpt-5-mini" }),
      aside: undefined,
    });
    expect(arrivingDrafts(draft("  ", { modelId: "gpt-5" }), undefined, { text: "Hi", modelId: null }).draft).toEqual(
      draft("Hi", { modelId: "gpt-5" }),
    );
  });

  it("sets the draft that was there aside, unchanged", () => {
    const kept = draft("Half a letter", { modelId: "gpt-5", unsettledKey: "key" });
    expect(arrivingDrafts(kept, undefined, given)).toEqual({ draft: draft("Write a notice", { modelId: "gpt-5-mini" }), aside: kept });
  });

  it("loses neither draft if one was already set aside", () => {
    const { aside } = arrivingDrafts(draft("Second"), draft("First"), given);
    expect(aside).toEqual(draft("Second\n\nFirst"));
  });

  it("changes nothing if it is there already or empty", () => {
    const kept = draft("Write a notice", { unsettledKey: "key" });
    expect(arrivingDrafts(kept, draft("First"), given)).toEqual({ draft: { ...kept, modelId: "gpt-5-mini" }, aside: draft("First") });
    expect(arrivingDrafts(kept, draft("First"), { text: " ", modelId: null })).toEqual({ draft: kept, aside: draft("First") });
    expect(arrivingDrafts(kept, undefined, undefined)).toEqual({ draft: kept, aside: undefined });
  });

  it("replaces the model of the draft that was there, whose words stay, if it is a model alone", () => {
    const kept = draft("Half a letter", { modelId: "gpt-5", unsettledKey: "key" });
    const tapped = { text: "", modelId: "gpt-5-mini" };
    expect(arrivingDrafts(kept, undefined, tapped).draft).toEqual(draft("Half a letter", { modelId: "gpt-5-mini" }));
    expect(arrivingDrafts(undefined, undefined, tapped).draft).toEqual(draft("", { modelId: "gpt-5-mini" }));
    expect(arrivingDrafts({ ...kept, modelId: "gpt-5-mini" }, undefined, tapped).draft).toMatchObject({ unsettledKey: "key" });
  });
});
