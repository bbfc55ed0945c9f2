/** The calculator's inputs as they stand in an address, and as they are typed. */
import { billingIntervals, planKeys } from "#domain/plans.ts";
import type { RoiAmount, RoiInputs } from "#domain/roi.ts";
import { isRoiAmount } from "#domain/roi.ts";

export const roiAmounts = ["taskMinutes", "hourlyCents", "savedPercent", "checkMinutes"] as const satisfies readonly RoiAmount[];

/** Somebody's morning of routine writing: what the calculator shows before anybody has touched it. */
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
  // Anything but digits is somebody's mistake or mischief: the example stands in for it.
  const value = given !== null && /^\d{1,7}$/.test(given) ? Number(given) : Number.NaN;
  return isRoiAmount(name, value) ? value : exampleInputs[name];
}

/** What an address asks for; what it gets wrong is taken from the example. */
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

/** The query with these inputs; whatever else stood in it stays. */
export function writeRoiQuery(inputs: RoiInputs, search: URLSearchParams): URLSearchParams {
  const written = new URLSearchParams(search);
  for (const name of roiAmounts) written.set(queryNames[name], String(inputs[name]));
  written.set("plan", inputs.plan);
  written.set("paid", inputs.interval);
  return written;
}

/** How many of the kept unit make one of the typed: minutes to an hour, cents to a dollar. */
const perTyped: Readonly<Record<RoiAmount, number>> = { taskMinutes: 60, hourlyCents: 100, savedPercent: 1, checkMinutes: 1 };

export function typedBound(name: RoiAmount, value: number): number {
  return value / perTyped[name];
}

export function takesDecimals(name: RoiAmount): boolean {
  return perTyped[name] !== 1;
}

/** "6,5" hours → 390 minutes. A comma or a point, and two places at most; undefined for what is no amount or out of bounds. */
export function parseTyped(name: RoiAmount, typed: string): number | undefined {
  const text = typed.normalize("NFKC").trim();
  const pattern = takesDecimals(name) ? /^\d{1,5}(?:[.,]\d{1,2})?$/ : /^\d{1,5}$/;
  if (!pattern.test(text)) return undefined;
  const value = Math.round(Number(text.replace(",", ".")) * perTyped[name]);
  return isRoiAmount(name, value) ? value : undefined;
}

/** 390 minutes → "6.5" hours, with the language's own decimal mark and no others. */
export function typedOf(name: RoiAmount, value: number, language: string): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits: 2, useGrouping: false, numberingSystem: "latn" }).format(
    typedBound(name, value),
  );
}
