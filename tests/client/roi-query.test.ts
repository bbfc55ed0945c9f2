/** The calculator's link: it restores a calculation, and survives hostile values. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exampleInputs, parseTyped, readRoiQuery, roiAmounts, typedOf, writeRoiQuery } from "#client/features/reading/roi-query.ts";
import { languages } from "#domain/languages.ts";
import { billingIntervals, planKeys } from "#domain/plans.ts";
import type { RoiInputs } from "#domain/roi.ts";
import { isRoiAmount, roiBounds } from "#domain/roi.ts";

const inputs: fc.Arbitrary<RoiInputs> = fc.record({
  taskMinutes: fc.integer(roiBounds.taskMinutes),
  hourlyCents: fc.integer(roiBounds.hourlyCents),
  savedPercent: fc.integer(roiBounds.savedPercent),
  checkMinutes: fc.integer(roiBounds.checkMinutes),
  plan: fc.constantFrom(...planKeys),
  interval: fc.constantFrom(...billingIntervals),
});

describe("the calculator's link", () => {
  it("restores every calculation and leaves the rest of the query unchanged", () => {
    fc.assert(
      fc.property(inputs, (given) => {
        const query = writeRoiQuery(given, new URLSearchParams("lang=de&task=x"));
        expect(readRoiQuery(new URLSearchParams(query.toString()))).toEqual(given);
        expect(query.get("lang")).toBe("de");
        expect(query.getAll("task")).toHaveLength(1);
      }),
    );
  });

  it("uses the example's value for one that is missing, invalid or out of range", () => {
    const hostile = [
      "",
      " ",
      "-1",
      "1e3",
      "0x10",
      "6.5",
      "99999999",
      "10081",
      "NaN",
      "Infinity",
      "<b>",
      "१२",
      "１２",
      "null",
      "[object Object]",
      "1 ",
    ];
    expect(readRoiQuery(new URLSearchParams())).toEqual(exampleInputs);
    for (const value of hostile) {
      const query = new URLSearchParams({ task: value, hour: value, saved: value, check: value, plan: value, paid: value });
      const read = readRoiQuery(query);
      expect({ ...read, hourlyCents: exampleInputs.hourlyCents }, value).toEqual(exampleInputs);
      expect(isRoiAmount("hourlyCents", read.hourlyCents), value).toBe(true);
    }
    const inherited = readRoiQuery(new URLSearchParams("plan=constructor&paid=__proto__"));
    expect(inherited).toEqual(exampleInputs);
  });

  it("gives values within the limits whatever it contains", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 200 }),
        fc.dictionary(fc.constantFrom("task", "hour", "saved", "check", "plan", "paid"), fc.string()),
        (raw, values) => {
          for (const query of [new URLSearchParams(raw), new URLSearchParams(values)]) {
            const read = readRoiQuery(query);
            for (const name of roiAmounts) expect(isRoiAmount(name, read[name])).toBe(true);
            expect(planKeys).toContain(read.plan);
            expect(billingIntervals).toContain(read.interval);
          }
        },
      ),
    );
  });
});

describe("an amount as it is typed", () => {
  it("is parsed back from how it is shown, in every language", () => {
    fc.assert(
      fc.property(inputs, fc.constantFrom(...languages.map(({ code }) => code)), (given, language) => {
        for (const name of roiAmounts)
          expect(parseTyped(name, typedOf(name, given[name], language)), `${name} ${language}`).toBe(given[name]);
      }),
    );
  });

  it("may have a comma or a point and full-width digits", () => {
    expect(parseTyped("taskMinutes", "6,5")).toBe(390);
    expect(parseTyped("taskMinutes", " 6.5 ")).toBe(390);
    expect(parseTyped("taskMinutes", "６.５")).toBe(390);
    expect(parseTyped("hourlyCents", "29,99")).toBe(2_999);
  });

  it("is rejected if it is no number or out of range", () => {
    for (const typed of ["", "-1", "abc", "1.234", "1,2,3", "169", "1e2", "∞"])
      expect(parseTyped("taskMinutes", typed), typed).toBeUndefined();
    for (const typed of ["40.5", "101", "4 0"]) expect(parseTyped("savedPercent", typed), typed).toBeUndefined();
  });
});
