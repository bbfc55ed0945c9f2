import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { annualPriceCents, billingIntervals, planKeys, plans } from "#server/domain/plans.ts";
import type { RoiInputs } from "#server/domain/roi.ts";
import { isRoiAmount, monthlyCostCents, returnOnPlan, roiBounds } from "#server/domain/roi.ts";

const inputs: fc.Arbitrary<RoiInputs> = fc.record({
  taskMinutes: fc.integer(roiBounds.taskMinutes),
  hourlyCents: fc.integer(roiBounds.hourlyCents),
  savedPercent: fc.integer(roiBounds.savedPercent),
  checkMinutes: fc.integer(roiBounds.checkMinutes),
  plan: fc.constantFrom(...planKeys),
  interval: fc.constantFrom(...billingIntervals),
});

/** The article's formula in exact fractions: minutes per week × 52 ÷ 12 ÷ 60 × cents per hour, rounded half away from zero. */
function exactValueCents({ taskMinutes, hourlyCents, savedPercent, checkMinutes }: RoiInputs): bigint {
  const numerator = (BigInt(taskMinutes) * BigInt(savedPercent) - BigInt(checkMinutes) * 100n) * BigInt(hourlyCents) * 52n;
  const denominator = 100n * 60n * 12n;
  const size = numerator < 0n ? -numerator : numerator;
  const rounded = (2n * size + denominator) / (2n * denominator);
  return numerator < 0n ? -rounded : rounded;
}

describe("the return on a plan", () => {
  it("matches the example in the article", () => {
    const example: RoiInputs = {
      taskMinutes: 360,
      hourlyCents: 3_000,
      savedPercent: 40,
      checkMinutes: 45,
      plan: "starter",
      interval: "month",
    };
    expect(returnOnPlan(example)).toEqual({
      savedMinutes: 429,
      valueCents: 21_450,
      costCents: 1_999,
      netCents: 19_451,
      breakEvenMinutes: 10,
    });
    expect(returnOnPlan({ ...example, interval: "year" }).costCents).toBe(1_599);
  });

  it("matches exact fractions to the cent for every valid input", () => {
    fc.assert(
      fc.property(inputs, (given) => {
        const result = returnOnPlan(given);
        for (const value of [result.savedMinutes, result.valueCents, result.costCents, result.netCents]) {
          expect(Number.isSafeInteger(value)).toBe(true);
          expect(Object.is(value, -0)).toBe(false);
        }
        expect(BigInt(result.valueCents)).toBe(exactValueCents(given));
        expect(result.netCents + result.costCents).toBe(result.valueCents);
      }),
    );
  });

  it("breaks even at exactly the minute it reports", () => {
    fc.assert(
      fc.property(inputs, (given) => {
        const { breakEvenMinutes, costCents } = returnOnPlan(given);
        if (given.hourlyCents === 0) {
          expect(breakEvenMinutes).toBeNull();
          return;
        }
        const minutes = breakEvenMinutes ?? 0;
        const cost = BigInt(costCents) * 60n * 12n;
        const worth = (weekly: number) => BigInt(weekly) * BigInt(given.hourlyCents) * 52n;
        expect(worth(minutes)).toBeGreaterThanOrEqual(cost);
        expect(worth(minutes - 1)).toBeLessThan(cost);
        if (minutes <= roiBounds.taskMinutes.max) {
          expect(returnOnPlan({ ...given, taskMinutes: minutes, savedPercent: 100, checkMinutes: 0 }).netCents).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  it("never falls when more time is saved and never rises with checking time", () => {
    fc.assert(
      fc.property(inputs, fc.integer(roiBounds.savedPercent), fc.integer(roiBounds.checkMinutes), (given, savedPercent, checkMinutes) => {
        const { netCents } = returnOnPlan(given);
        const other = returnOnPlan({ ...given, savedPercent });
        if (savedPercent >= given.savedPercent) expect(other.netCents).toBeGreaterThanOrEqual(netCents);
        else expect(other.netCents).toBeLessThanOrEqual(netCents);
        const checked = returnOnPlan({ ...given, checkMinutes });
        if (checkMinutes >= given.checkMinutes) expect(checked.netCents).toBeLessThanOrEqual(netCents);
      }),
    );
  });

  it("uses a twelfth of the annual price if the plan is paid annually", () => {
    for (const key of planKeys) {
      expect(monthlyCostCents(key, "month")).toBe(plans[key].monthlyPriceCents);
      expect(Math.abs(monthlyCostCents(key, "year") * 12 - annualPriceCents(plans[key]))).toBeLessThanOrEqual(6);
    }
  });

  it("accepts only whole numbers within the limits", () => {
    for (const value of [-1, 0.5, 101, Number.NaN, Number.POSITIVE_INFINITY])
      expect(isRoiAmount("savedPercent", value), String(value)).toBe(false);
    for (const value of [0, 50, 100]) expect(isRoiAmount("savedPercent", value)).toBe(true);
  });
});
