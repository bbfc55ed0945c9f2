import { describe, expect, it } from "vitest";
import { providerCostMicroDollars } from "#domain/provider-prices.ts";

const now = new Date("2026-11-23T12:00:00Z");

describe("what an answer costs us", () => {
  it("is counted in whole micro-dollars, rounded up, with what a search costs", () => {
    const usage = { promptTokens: 1_001, completionTokens: 3, searches: null };
    expect(providerCostMicroDollars({ id: "gpt-5-mini" }, usage, now)).toBe(257);
    expect(providerCostMicroDollars({ id: "sonar" }, usage, now)).toBe(258 + 15_000);
  });

  it("has the searches that were made, of the most that may be; all of them if the provider does not say", () => {
    const cost = (searches: number | null) =>
      providerCostMicroDollars({ id: "gpt-6.1-terra-search" }, { promptTokens: 0, completionTokens: 0, searches }, now);
    expect([0, 1, 2, null].map(cost)).toEqual([0, 10_000, 20_000, 20_000]);
  });

  it("is unknown where the provider did not say how many tokens it took", () => {
    expect(providerCostMicroDollars({ id: "gpt-5" }, { promptTokens: null, completionTokens: 5, searches: null }, now)).toBeNull();
    expect(providerCostMicroDollars({ id: "gpt-5" }, { promptTokens: 5, completionTokens: null, searches: null }, now)).toBeNull();
  });
});

it("what an answer costs is counted at the price of its day, and without the peak's", () => {
  const usage = { promptTokens: 1_000_000, completionTokens: 0, searches: null };
  const cost = (id: string, day: string) => providerCostMicroDollars({ id }, usage, new Date(day));
  expect(cost("gemini-3.8-flash", "2026-12-31T23:59:59Z")).toBe(750_000);
  expect(cost("gemini-3.8-flash", "2027-01-01T00:00:00Z")).toBe(1_500_000);
  expect(cost("deepseek-flash", "2026-12-01T00:00:00Z")).toBe(150_000);
});

it("an answer with more input than a step of its price costs all of it at that step", () => {
  const cost = (id: string, promptTokens: number) =>
    providerCostMicroDollars({ id }, { promptTokens, completionTokens: 1_000, searches: null }, now);
  expect(cost("claude-haiku-5-5", 100_000)).toBe(10_000 + 500);
  expect(cost("claude-haiku-5-5", 140_000)).toBe(70_000 + 2_500);
});

it("a picture costs what went in, as text and as pictures, and what came out", () => {
  const usage = { promptTokens: 1_100, pictureTokens: 1_000, completionTokens: 2_000, searches: null };
  expect(providerCostMicroDollars({ id: "gpt-image-2.6-flare" }, usage, now)).toBe(100 * 5 + 1_000 * 8 + 2_000 * 30);
});
