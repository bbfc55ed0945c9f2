/** Which model is preselected, and which one the person can still afford. */
import { describe, expect, it } from "vitest";
import { payableModel, preferredModel, shortlist } from "#client/features/chat/model-choice.ts";
import type { OfferedModel } from "#client/features/chat/models-store.ts";
import { useModels } from "#client/features/chat/models-store.ts";

function offered(unavailable: readonly string[] = []): OfferedModel[] {
  return useModels.getState().models.map((model) => ({ ...model, available: !unavailable.includes(model.id) }));
}
const idOf = (model: OfferedModel | undefined) => model?.id;
const [firstSmall, secondSmall] = offered().filter(({ size }) => size === "small");

describe("a new conversation", () => {
  it("preselects the chosen model, else the one used last", () => {
    expect(idOf(preferredModel(offered(), "gpt-5", "claude-haiku-4-5"))).toBe("gpt-5");
    expect(idOf(preferredModel(offered(), null, "claude-haiku-4-5"))).toBe("claude-haiku-4-5");
  });

  it("preselects a small model if none was used yet or the last one is not available", () => {
    expect(idOf(preferredModel(offered(), null, null))).toBe(firstSmall?.id);
    expect(idOf(preferredModel(offered(), null, "a-model-of-old"))).toBe(firstSmall?.id);
    expect(idOf(preferredModel(offered(["gpt-5"]), null, "gpt-5"))).toBe(firstSmall?.id);
    expect(idOf(preferredModel(offered([firstSmall?.id ?? ""]), null, null))).toBe(secondSmall?.id);
    expect(idOf(preferredModel(offered(), null, "dall-e-3"))).toBe(firstSmall?.id);
  });

  it("never replaces a chosen model, even if it is not available", () => {
    expect(preferredModel(offered(["gpt-5"]), "gpt-5", null)).toMatchObject({ id: "gpt-5", available: false });
  });
});

describe("the models to begin with", () => {
  it("are a small and a large one for text, one for pictures and one for the web, and the chosen one", () => {
    const begin = shortlist(offered(), undefined);
    expect(begin.map(({ size, category, unit }) => (category === "text" ? size : `${category} ${unit}`))).toEqual([
      "small",
      "large",
      "image image",
      "search answer",
    ]);
    expect(shortlist(offered(), "gpt-transcribe").map(idOf)).toEqual([...begin.slice(0, 3).map(idOf), "gpt-transcribe"]);
  });

  it("are small ones, each good for something else, as long as a person has only the free trial", () => {
    const covered = offered().map((model) => ({ ...model, needsPlan: model.size !== "small" }));
    const begin = shortlist(covered, undefined);
    expect(begin.map(({ size }) => size)).toEqual(["small", "small", "small", "small"]);
    expect(new Set(begin.map(({ goodFor }) => goodFor)).size).toBe(4);
  });
});

describe("out of credits", () => {
  const of = (id: string) => offered().find((model) => model.id === id);

  it("suggests an affordable model of the same kind, else another affordable one, else none", () => {
    expect(idOf(payableModel(offered(), of("gpt-5"), 4))).toBe(firstSmall?.id);
    expect(idOf(payableModel(offered(), of("gpt-5-search-api"), 4))).toBe("sonar");
    expect(idOf(payableModel(offered(), of("gpt-5-search-api"), 1))).toBe(firstSmall?.id);
    expect(payableModel(offered(), of("gpt-5"), 0)).toBeUndefined();
    // Nobody is led from a small model to a large one that stands before the other small ones.
    expect(idOf(payableModel(offered(), of(firstSmall?.id ?? ""), 100))).toBe(secondSmall?.id);
    expect(idOf(payableModel(offered([firstSmall?.id ?? ""]), of("gpt-5"), 1))).toBe(secondSmall?.id);
  });
});
