/** Whatever a provider says of what its filter stopped, the product keeps one of its own reasons, and never the provider's words. */
import { expect, it } from "vitest";
import { filterReasons } from "#domain/filter-reasons.ts";
import {
  anthropicWords,
  azureReason,
  finishFilter,
  reasonNamed,
  reasonOfError,
  reasonOfResponse,
} from "#server/providers/models/filter-words.ts";

const blocked = (more: object) => reasonOfError({ code: "moderation_blocked", message: "Your request was rejected", ...more });
const categories = (...names: unknown[]) => blocked({ moderation_details: { moderation_stage: "output", categories: names } });

it("a category of OpenAI's is one of ours, however it is narrowed, and by the words where there are no fields", () => {
  expect(categories("self-harm/intent")).toBe("self_harm");
  expect(categories("illicit/violent")).toBe("dangerous");
  expect(categories("sexual/minors")).toBe("sexual");
  expect(blocked({ message: "Rejected. safety_violations=[harassment]." })).toBe("harassment");
  expect(blocked({})).toBe("unspecified");
  expect(reasonOfError({ code: "cyber_policy" })).toBe("cyber");
  expect(reasonOfError({ code: "misalignment_policy_violation" })).toBe("other");
  expect(
    reasonOfError({
      code: "invalid_prompt",
      message: "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
    }),
  ).toBe("unspecified");
});

it("of several categories the same one is kept in whatever order they come", () => {
  expect(categories("violence", "sexual")).toBe("sexual");
  expect(categories("sexual", "violence")).toBe("sexual");
  expect(categories("never heard of", "hate")).toBe("hate");
});

it("results of filters tell what was stopped, and not what was looked for", () => {
  const passed = { filtered: false, severity: "safe" };
  expect(azureReason({ hate: passed, violence: passed })).toBeUndefined();
  expect(azureReason({ hate: passed, custom_blocklists: { filtered: true, details: [] } })).toBe("wording");
  const filters = [{ source_type: "prompt", content_filter_results: { hate: passed } }];
  expect(reasonOfResponse({ content_filters: [...filters, { content_filter_results: { self_harm: { filtered: true } } }] })).toBe(
    "self_harm",
  );
  expect(reasonOfResponse({ content_filters: filters })).toBe("unspecified");
});

it("Google's reasons are understood with OpenAI's before them too, and other ends are no filter's", () => {
  const reasons = [
    finishFilter("SAFETY"),
    finishFilter("content_filter: RECITATION"),
    finishFilter("content_filter: OTHER"),
    finishFilter("SPII"),
  ];
  expect(reasons).toEqual(["unspecified", "copyright", "other", "personal_data"]);
  expect([finishFilter("stop"), finishFilter("tool_calls"), finishFilter("constructor")]).toEqual([undefined, undefined, undefined]);
});

it("a word that nobody knows is `other`, and nothing that a provider sends is kept, or throws", () => {
  const hostile = [
    ...["<script>alert(1)</script>", "'; drop table generations; --", "\0", "𝔳iolence", "x".repeat(1_000_000), "__proto__", "toString"],
    ...[42, {}, [], true, new Array(1_000).fill("sexual ")],
  ];
  for (const name of hostile) {
    expect(categories(name)).toBe("other");
    expect(reasonNamed(anthropicWords, [name])).toBe("other");
  }
  const strange = [null, undefined, 7, "text", [], [[]], { categories: null }, { categories: { hate: "yes" } }];
  for (const value of strange) {
    const fields = { moderation_details: value, innererror: value, content_filter_results: value, content_filter_result: value };
    expect(filterReasons).toContain(blocked(fields));
    expect(filterReasons).toContain(reasonOfResponse({ content_filters: value, moderation: value }));
    expect(azureReason(value)).toBeUndefined();
    expect(reasonOfError({ code: value, message: value })).toBeUndefined();
  }
  // A provider that lists a million categories is read no further than any has.
  expect(categories(...new Array(100_000).fill("new"), "sexual")).toBe("other");
});
