import type { Usage } from "#contract/credits/usage.ts";

/** The models with a colour of their own; all others are drawn as one. */
const coloured = 4;

export interface Buckets {
  /** The first day of each day or month of the range, including those without usage. */
  starts: string[];
  /** The most used first; null stands for all others together. */
  models: (string | null)[];
  /** Credits by model and start. */
  credits: number[][];
  /** Credits by start. */
  totals: number[];
  total: number;
}

function nextStart(start: string, unit: Usage["unit"]): string {
  const next = new Date(start);
  if (unit === "month") next.setUTCMonth(next.getUTCMonth() + 1);
  else next.setUTCDate(next.getUTCDate() + 1);
  return next.toISOString().slice(0, 10);
}

function startsOf({ from, to, unit }: Usage): string[] {
  const starts: string[] = [];
  for (let start = from; start <= to; start = nextStart(start, unit)) starts.push(start);
  return starts;
}

/** The sums as rows and columns: for each day or month and each of the most used models. */
export function bucketsOf(usage: Usage): Buckets {
  const starts = startsOf(usage);
  const places = new Map(starts.map((start, index) => [start, index]));
  const byModel = new Map<string, number>();
  for (const { modelId, credits } of usage.sums) byModel.set(modelId, (byModel.get(modelId) ?? 0) + credits);
  const ranked = [...byModel.keys()].sort((one, other) => (byModel.get(other) ?? 0) - (byModel.get(one) ?? 0));
  const models: (string | null)[] = ranked.length > coloured + 1 ? [...ranked.slice(0, coloured), null] : ranked;
  const credits = models.map(() => starts.map(() => 0));
  const totals = starts.map(() => 0);
  for (const sum of usage.sums) {
    const place = places.get(sum.start);
    const own = models.indexOf(sum.modelId);
    const column = credits[own < 0 ? models.length - 1 : own];
    if (place === undefined || !column) continue;
    column[place] = (column[place] ?? 0) + sum.credits;
    totals[place] = (totals[place] ?? 0) + sum.credits;
  }
  return { starts, models, credits, totals, total: totals.reduce((sum, more) => sum + more, 0) };
}
