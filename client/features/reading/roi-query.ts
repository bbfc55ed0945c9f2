/** Converts the calculator's inputs from and to the query string and the typed text. */
import { billingIntervals, planKeys } from "#domain/plans.ts";
import type { RoiAmount, RoiInputs } from "#domain/roi.ts";
import { isRoiAmount } from "#domain/roi.ts";

export const roiAmounts = ["taskMinutes", "hourlyCents", "savedPercent", "checkMinutes"] as const satisfies readonly RoiAmount[];

/** An example that the calculator shows at first: a morning of routine writing. */
export const exampleInputs: RoiInputs = {
  taskMinutes: 360,
  hourlyCents: 3_000,
  savedPercent: 40,
  checkMinutes: 45,
  plan: "starter",
  interval: "month",
};

const queryNames = { taskMinutes: "task", hourlyCents: "hour", savedPercent: "saved", checkMinutes: "check" } as const;

function amountOf(search: URLSearchParams, name: RoiAmount): number {
  const given = search.get(queryNames[name]);
  // If the value is not a number, use the example's.
  const value = given !== null && /^\d{1,7}$/.test(given) ? Number(given) : Number.NaN;
  return isRoiAmount(name, value) ? value : exampleInputs[name];
}

/** Reads the inputs from the query. Invalid ones are taken from the example. */
export function readRoiQuery(search: URLSearchParams): RoiInputs {
  return {
    taskMinutes: amountOf(search, "taskMinutes"),
    hourlyCents: amountOf(search, "hourlyCents"),
    savedPercent: amountOf(search, "savedPercent"),
    checkMinutes: amountOf(search, "checkMinutes"),
    plan: planKeys.find((key) => key === search.get("plan")) ?? exampleInputs.plan,
    interval: billingIntervals.find((interval) => interval === search.get("paid")) ?? exampleInputs.interval,
  };
}

/** The query with these inputs; other parameters stay. */
export function writeRoiQuery(inputs: RoiInputs, search: URLSearchParams): URLSearchParams {
  const written = new URLSearchParams(search);
  for (const name of roiAmounts) written.set(queryNames[name], String(inputs[name]));
  written.set("plan", inputs.plan);
  written.set("paid", inputs.interval);
  return written;
}

/** How many stored units make one typed unit: minutes per hour, cents per dollar. */
const perTyped: Readonly<Record<RoiAmount, number>> = { taskMinutes: 60, hourlyCents: 100, savedPercent: 1, checkMinutes: 1 };

export function typedBound(name: RoiAmount, value: number): number {
  return value / perTyped[name];
}

export function takesDecimals(name: RoiAmount): boolean {
  return perTyped[name] !== 1;
}

/**
 * "6,5" hours → 390 minutes. Accepts a comma or a point and at most two decimals. Undefined if the text is not an amount or is
 * out of bounds.
 */
export function parseTyped(name: RoiAmount, typed: string): number | undefined {
  const text = typed.normalize("NFKC").trim();
  const pattern = takesDecimals(name) ? /^\d{1,5}(?:[.,]\d{1,2})?$/ : /^\d{1,5}$/;
  if (!pattern.test(text)) return undefined;
  const value = Math.round(Number(text.replace(",", ".")) * perTyped[name]);
  return isRoiAmount(name, value) ? value : undefined;
}

/** 390 minutes → "6.5" hours, with the decimal separator of the language and no thousands separators. */
export function typedOf(name: RoiAmount, value: number, language: string): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits: 2, useGrouping: false, numberingSystem: "latn" }).format(
    typedBound(name, value),
  );
}
