import { describe, expect, it } from "vitest";
import { providerCostMicroDollars } from "#domain/provider-prices.ts";

describe("what an answer costs us", () => {
  it("is counted in whole micro-dollars, rounded up, with what a search costs", () => {
    const usage = { promptTokens: 1_001, completionTokens: 3 };
    expect(providerCostMicroDollars({ id: "gpt-5-mini" }, usage)).toBe(257);
    expect(providerCostMicroDollars({ id: "sonar" }, usage)).toBe(1_004 + 12_000);
  });

  it("is unknown where the provider did not say how many tokens it took", () => {
    expect(providerCostMicroDollars({ id: "gpt-5" }, { promptTokens: null, completionTokens: 5 })).toBeNull();
    expect(providerCostMicroDollars({ id: "gpt-5" }, { promptTokens: 5, completionTokens: null })).toBeNull();
  });
});
