/** The specification's rules for time left, credit levels, tiers and prompts. */
import { describe, expect, it } from "vitest";
import { creditLevel, creditSupply } from "#domain/credits.ts";
import { monthlyCreditsOf, planKeys } from "#domain/plans.ts";
import { checkPrompt } from "#domain/rules.ts";
import { tierDisplayName, timeLeft } from "#domain/subscription.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const leftAfter = (milliseconds: number) => timeLeft(new Date(now.getTime() + milliseconds).toISOString(), now);

describe("time left until the subscription's end (specification §4)", () => {
  it.each([null, undefined, "", "soon", "2026-13-01T00:00:00Z"])("is unknown for %j", (end) => {
    expect(timeLeft(end, now)).toEqual({ kind: "unknown" });
  });

  it.each([0, -1, -minuteMs, -400 * dayMs])("of %i ms is expired", (milliseconds) => {
    expect(leftAfter(milliseconds)).toEqual({ kind: "expired" });
  });

  it.each([
    [31 * dayMs, { kind: "months", count: 1, days: 1 }],
    [60 * dayMs, { kind: "months", count: 2, days: 0 }],
    [365 * dayMs, { kind: "months", count: 12, days: 5 }],
    [30 * dayMs, { kind: "days", count: 30 }],
    [31 * dayMs - 1, { kind: "days", count: 30 }],
    [dayMs, { kind: "days", count: 1 }],
    [dayMs - 1, { kind: "hours", count: 23 }],
    [60 * minuteMs, { kind: "hours", count: 1 }],
    [60 * minuteMs - 1, { kind: "minutes", count: 59 }],
    [minuteMs, { kind: "minutes", count: 1 }],
    [minuteMs - 1, { kind: "moment" }],
    [1, { kind: "moment" }],
  ])("of %i ms is given in months and days above 30 days, and in the largest unit below", (milliseconds, left) => {
    expect(leftAfter(milliseconds)).toEqual(left);
  });
});

describe("credit levels (specification §4)", () => {
  it.each([
    [5_000, "excellent"],
    [1_000, "excellent"],
    [999, "good"],
    [500, "good"],
    [499, "low"],
    [100, "low"],
    [99, "verylow"],
    [0, "verylow"],
  ])("%i credits are %s", (credits, level) => {
    expect(creditLevel(credits)).toBe(level);
  });
});

describe("the share of the month's credits that is left", () => {
  it.each([
    ["starter", 300, "plenty"],
    ["starter", 76, "plenty"],
    ["starter", 75, "low"],
    ["starter", 16, "low"],
    ["starter", 15, "out"],
    ["starter", 0, "out"],
    ["enterprise", 300, "low"],
    ["enterprise", 1_250, "plenty"],
    ["none", 50, "plenty"],
    ["none", 2, "out"],
  ] as const)("of %s with %i credits is %s", (tier, credits, supply) => {
    expect(creditSupply(credits, monthlyCreditsOf(tier))).toBe(supply);
  });
});

describe("tiers (specification §4)", () => {
  it("go from starter to enterprise and have the specification's names", () => {
    expect(planKeys.map((key) => [key, tierDisplayName(key)])).toEqual([
      ["starter", "Starter Plan"],
      ["basic", "Basic Plan"],
      ["professional", "Professional Plan"],
      ["enterprise", "Enterprise Plan"],
    ]);
    expect(tierDisplayName("none")).toBe("No Plan");
  });
});

describe("a prompt (specification §5)", () => {
  it.each(["", " ", "\n\t\u00a0"])("is empty as %j", (prompt) => {
    expect(checkPrompt(prompt)).toBe("Prompt cannot be empty");
  });

  it.each(["a", " a ", "<", "p".repeat(10_000), ` ${"p".repeat(10_000)}\n`, "🧱".repeat(10_000)])("may be sent", (prompt) => {
    expect(checkPrompt(prompt)).toBeUndefined();
  });

  it.each(["p".repeat(10_001), "🧱".repeat(10_001)])("is too long with 10,001 characters", (prompt) => {
    expect(checkPrompt(prompt)).toBe("Prompt must be less than 10,000 characters");
  });
});
