/** The arithmetic of the business's figures. */
import { expect, it } from "vitest";
import {
  creditMicroDollars,
  marginMicroDollars,
  monthlyTwelfths,
  movedFrom,
  movementCents,
  movementsOf,
  percentOf,
  presetDays,
  startsOf,
  unitOf,
} from "#domain/figures.ts";
import { changeOf, judgementOf, rangeBefore } from "#domain/headline-figures.ts";
import { packs, planList, priceCents } from "#domain/plans.ts";
import { seededRandom } from "#tests/support/ledger-model.ts";

it("a subscription brings its price a month while it runs, also unpaid, and an annual one a twelfth", () => {
  expect(monthlyTwelfths("active", 1_999, "month")).toBe(12 * 1_999);
  expect(monthlyTwelfths("past_due", 19_190, "year")).toBe(19_190);
  expect([monthlyTwelfths("incomplete", 1_999, "month"), monthlyTwelfths("canceled", 1_999, "month")]).toEqual([0, 0]);
});

it("every change is one movement, and movements lead from one revenue to the next", () => {
  const random = seededRandom(1);
  for (let run = 0; run < 500; run += 1) {
    const [before, after] = [random(4) * random(50_000), random(4) * random(50_000)];
    const moves = movementsOf(before, after);
    expect(Object.values(moves).filter((amount) => amount !== 0)).toHaveLength(before === after ? 0 : 1);
    expect(movedFrom(before, moves)).toBe(after);
  }
});

it("whole cents add up in every line, each within a cent of what is exact", () => {
  const random = seededRandom(2);
  for (let run = 0; run < 500; run += 1) {
    const start = random(1_000_000);
    const moves = { new: random(90_000), expansion: random(9_000), contraction: random(9_000), churn: random(9_000) };
    const cents = movementCents(start, moves);
    expect(movedFrom(cents.start, cents)).toBe(cents.end);
    expect(cents.end).toBe(Math.round(movedFrom(start, moves) / 12));
    for (const name of ["new", "expansion", "contraction", "churn"] as const)
      expect(Math.abs(cents[name] - moves[name] / 12)).toBeLessThan(1);
  }
});

it("a credit is worth no more than the least it is sold for", () => {
  const sold = [
    ...packs.map((pack) => pack.priceCents / pack.credits),
    ...planList.flatMap((plan) => [priceCents(plan, "month") / plan.monthlyCredits, priceCents(plan, "year") / 12 / plan.monthlyCredits]),
  ];
  for (const cents of sold) expect(creditMicroDollars).toBeLessThanOrEqual(cents * 10_000);
  expect(marginMicroDollars(2, 3 * creditMicroDollars)).toBe(-creditMicroDollars);
  expect([percentOf(1, 3), percentOf(0, 0)]).toEqual([33.3, null]);
});

it("ranges are days of UTC; a long one is shown by months, of which the first and the last may be parts", () => {
  const now = new Date("2028-02-29T23:59:59Z");
  expect(presetDays("7d", now)).toEqual({ from: "2028-02-23", to: "2028-02-29" });
  expect(presetDays("12m", now)).toEqual({ from: "2027-03-01", to: "2028-02-29" });
  expect(startsOf("2028-02-27", "2028-03-01", "day")).toEqual(["2028-02-27", "2028-02-28", "2028-02-29", "2028-03-01"]);
  expect(startsOf("2027-11-30", "2028-02-01", "month")).toEqual(["2027-11-30", "2027-12-01", "2028-01-01", "2028-02-01"]);
  expect([unitOf("2028-01-01", "2028-04-01"), unitOf("2028-01-01", "2028-04-02")]).toEqual(["day", "month"]);
});

it("a range is compared with the equally long one directly before it; a share changes by points, and nothing by a percentage of zero", () => {
  expect(rangeBefore({ from: "2028-03-01", to: "2028-03-30" })).toEqual({ from: "2028-01-31", to: "2028-02-29" });
  expect(rangeBefore({ from: "2026-03-01", to: "2026-03-01" })).toEqual({ from: "2026-02-28", to: "2026-02-28" });
  expect(changeOf("revenue.mrr", 90, 120)).toEqual({ change: -30, percent: -25 });
  expect(changeOf("answers.margin", 50, -100)).toEqual({ change: 150, percent: 150 });
  expect(changeOf("people.conversion", 12.3, 12.2)).toEqual({ change: 0.1, percent: null });
  expect(changeOf("people.joined", 5, 0)).toEqual({ change: 5, percent: null });
  expect(changeOf("answers.firstText", 5, null)).toEqual({ change: null, percent: null });
  expect([judgementOf("revenue.churn", 5), judgementOf("revenue.churn", -5), judgementOf("revenue.churn", 0)]).toEqual([
    ...["worse", "better", undefined],
  ]);
  expect([judgementOf("revenue.mrr", -5), judgementOf("credits.spent", 5)]).toEqual(["worse", undefined]);
});
