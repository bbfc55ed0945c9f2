/** Lighthouse's mobile figures of one page, the median of several runs, next to our targets. */

import lighthouse from "lighthouse";
import { chromium } from "playwright-core";
import { freePort } from "#server/embedded/processes.ts";
import { wholeBrowserOptions } from "#tests/support/browser.ts";
import { median } from "../support.ts";

type Report = NonNullable<Awaited<ReturnType<typeof lighthouse>>>["lhr"];

interface Figure {
  name: string;
  read(report: Report): number;
  unit: string;
  target: number;
  /** Whether the target is a lower or an upper limit. */
  bound: "least" | "most";
  digits: number;
}

const score = (name: string, category: string, target: number): Figure => ({
  name,
  read: ({ categories }) => (categories[category]?.score ?? Number.NaN) * 100,
  unit: "",
  target,
  bound: "least",
  digits: 0,
});

const timing = (name: string, audit: string, target: number, unit: string, digits: number, divisor = 1): Figure => ({
  name,
  read: ({ audits }) => (audits[audit]?.numericValue ?? Number.NaN) / divisor,
  unit,
  target,
  bound: "most",
  digits,
});

const performance = score("performance", "performance", 95);
const largestPaint = timing("LCP", "largest-contentful-paint", 2, " s", 2, 1_000);
/** They hold where the floor page is as fast as a phone can be, that is at 100 and within the limit of LCP. Elsewhere the costs hold. */
const ofFastMachines: readonly Figure[] = [performance, largestPaint];
const figures: readonly Figure[] = [
  performance,
  score("accessibility", "accessibility", 100),
  score("best practices", "best-practices", 100),
  score("SEO", "seo", 100),
  largestPaint,
  timing("CLS", "cumulative-layout-shift", 0.02, "", 3),
];

/** What a page costs a slow phone, measured beside the floor in the same series, because machines differ. */
const costs = [
  { name: "blocking time", audit: "total-blocking-time", allowed: (floorMs: number) => floorMs + 150 },
  { name: "main thread", audit: "mainthread-work-breakdown", allowed: (floorMs: number) => 2.5 * floorMs },
] as const;
const categories = ["performance", "accessibility", "best-practices", "seo"];

export const heading = [
  ...figures.map(({ name, target, bound, unit }) => `${name} ${bound === "least" ? "≥" : "≤"}${target}${unit}`),
  "blocking time ≤ floor + 150 ms",
  "main thread ≤ 2.5 × floor",
];

export interface PageFigures {
  /** The figures in the order of `heading`; one that misses its target is marked. */
  cells: string[];
  missed: boolean;
  /** Lighthouse's suggestions, from the last run. */
  remarks: string[];
}

/** The first places in the page that an audit names, if any. */
function placesOf(details: Report["audits"][string]["details"]): string[] {
  if (!details || !("items" in details)) return [];
  const items = details.items as Record<string, unknown>[];
  return items.slice(0, 4).map((item) => {
    const node = item.node as { snippet?: string } | undefined;
    const place = node?.snippet ?? item.url ?? item.source ?? item.description ?? item.label ?? JSON.stringify(item);
    return String(typeof place === "object" ? JSON.stringify(place) : place).slice(0, 160);
  });
}

/** The failed audits that count towards the score, and the failed insights about loading. */
function remarksOf({ categories: found, audits }: Report): string[] {
  const counted = Object.values(found).flatMap(({ auditRefs }) =>
    auditRefs.filter(({ weight, group }) => weight > 0 || group === "insights"),
  );
  return counted
    .map(({ id }) => audits[id])
    .filter((audit) => audit?.score !== null && audit !== undefined && audit.score < 0.9)
    .map((audit) => [`${audit?.id}: ${audit?.displayValue ?? audit?.title ?? ""}`, ...placesOf(audit?.details)].join("\n      "));
}

function costOf(reports: readonly Report[], audit: string): number {
  return median(reports.map(({ audits }) => audits[audit]?.numericValue ?? Number.NaN));
}

function figuresOf(reports: readonly Report[], floorReports: readonly Report[]): PageFigures {
  const floorOf = (figure: Figure) => median(floorReports.map(figure.read));
  const isFast = floorOf(performance) === 100 && floorOf(largestPaint) <= largestPaint.target;
  const measured = figures.map((figure) => {
    const value = median(reports.map(figure.read));
    const reached = figure.bound === "least" ? value >= figure.target : value <= figure.target;
    const text = `${value.toFixed(figure.digits)}${figure.unit}`;
    if (!ofFastMachines.includes(figure)) return { text, reached };
    return { text: `${text}, floor ${floorOf(figure).toFixed(figure.digits)}${figure.unit}`, reached: reached || !isFast };
  });
  const compared = costs.map(({ audit, allowed }) => {
    const [ours, floor] = [costOf(reports, audit), costOf(floorReports, audit)];
    return { text: `${ours.toFixed(0)} ms, floor ${floor.toFixed(0)} ms`, reached: ours <= allowed(floor) };
  });
  const all = [...measured, ...compared];
  const last = reports.at(-1);
  return {
    cells: all.map(({ text, reached }) => `${text}${reached ? "" : " MISSED"}`),
    missed: all.some(({ reached }) => !reached),
    remarks: last ? remarksOf(last) : [],
  };
}

/**
 * Runs Lighthouse in a browser of its own. In a browser that has shown another page before, our pages would take over its process, because of
 * their Cross-Origin-Opener-Policy, and attaching the debugger to all that this process remembers would be counted as their work.
 */
async function inspectOnce(url: string): Promise<Report> {
  const port = await freePort();
  const options = wholeBrowserOptions();
  const browser = await chromium.launch({ ...options, args: [...(options.args ?? []), `--remote-debugging-port=${port}`] });
  try {
    const result = await lighthouse(url, { port, logLevel: "error", output: "json", onlyCategories: categories });
    if (!result) throw new Error(`${url}: Lighthouse returned nothing`);
    return result.lhr;
  } finally {
    await browser.close();
  }
}

/** Tries again up to twice, because a recording sometimes fails on a busy machine. */
async function reportOf(url: string, attemptsLeft = 2): Promise<Report> {
  const report = await inspectOnce(url);
  if (report.runtimeError && attemptsLeft > 0) return reportOf(url, attemptsLeft - 1);
  if (report.runtimeError) throw new Error(`${url}: ${report.runtimeError.message}`);
  return report;
}

/** Opens the page and the floor by turns. */
export async function inspect(url: string, floorUrl: string, runs: number): Promise<PageFigures> {
  const reports: Report[] = [];
  const floorReports: Report[] = [];
  for (let run = 0; run < runs; run += 1) {
    reports.push(await reportOf(url));
    floorReports.push(await reportOf(floorUrl));
  }
  return figuresOf(reports, floorReports);
}
