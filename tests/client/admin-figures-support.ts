/** Figures of a business that grows evenly. */
import type { Figures, WorkFigures } from "#contract/figures.ts";
import { changeOf, headlineNames, rangeBefore } from "#domain/headline-figures.ts";

const day = (index: number) => new Date(Date.UTC(2026, 2, 1 + index)).toISOString().slice(0, 10);

/** Each headline figure is 120, and was 100. */
const headlines = (isFirst: boolean) =>
  headlineNames.map((name) => {
    const before = isFirst ? null : 100;
    const { change, percent } = changeOf(name, 120, before);
    return { name, value: 120, before, change, changePercent: percent };
  });

/** The figures of so many days, from 1 March on; 0: of a day before anything was counted. */
export function figuresOf(days: number): Figures {
  const starts = Array.from({ length: Math.max(days, 1) }, (_, index) => day(index));
  const each = <Value>(value: (index: number) => Value) => starts.map((_, index) => value(index));
  const by = days === 0 ? 0 : 1;
  const moves = { new: 2_000 * by, expansion: 1_000 * by, contraction: 500 * by, churn: 500 * by };
  const start = 6_000 * by;
  const sums = { completed: 8, stopped: 1, failed: 1, credits: 50, soldCredits: 40, costMicroDollars: 300_000, uncosted: 2 };
  return {
    from: starts[0] ?? "",
    to: starts.at(-1) ?? "",
    unit: "day",
    completeUntil: days === 0 ? null : `${starts.at(-1)}T23:30:00.000Z`,
    starts,
    headlines: headlines(days === 0),
    before:
      days === 0
        ? null
        : {
            ...rangeBefore({ from: starts[0] ?? "", to: starts.at(-1) ?? "" }),
            countedFrom: null,
            ...{ mrrCents: each(() => 4_000), running: each(() => 4), answers: each(() => 8) },
            ...{ joined: each(() => 4), spentCredits: each(() => 100), outstandingCredits: each(() => 800) },
          },
    revenue: {
      total: {
        start,
        ...{ new: moves.new * days, expansion: moves.expansion * days, contraction: moves.contraction * days, churn: moves.churn * days },
        end: start + 2_000 * days,
      },
      buckets: each((index) => ({ start: start + 2_000 * index * by, ...moves, end: start + 2_000 * (index + 1) * by })),
    },
    subscriptions: {
      plans:
        days === 0
          ? []
          : [
              { planKey: "starter", interval: "month", runningBefore: 3, running: each((index) => 4 + index), mrrCents: 8_000 },
              {
                planKey: "basic",
                interval: "month",
                runningBefore: 2,
                running: each((index) => 3 + Math.floor(index / 2)),
                mrrCents: 3_000,
              },
              { planKey: "enterprise", interval: "year", runningBefore: 1, running: each(() => 1), mrrCents: 1_000 },
            ],
      started: each(() => 2 * by),
      ended: each(() => by),
    },
    people: {
      before: 40 * by,
      joined: each((index) => (5 + (index % 4)) * by),
      left: each((index) => (index % 3) * by),
      trials: each(() => 4 * by),
      converted: each(() => by),
    },
    credits: {
      buckets: each((index) => ({
        ...{
          sold: (300 + 20 * (index % 5)) * by,
          given: 50 * by,
          spent: 120 * by,
          expired: 40 * by,
          clawedBack: (index % 7 === 3 ? 100 : 0) * by,
        },
        ...{ outstandingSold: 900 * by, outstandingGiven: 90 * by },
      })),
      kinds: [
        { kind: "plan", issued: 900 * by, spent: 300 * by, expired: 100 * by, clawedBack: 0, outstanding: 500 * by },
        { kind: "pack", issued: 100 * by, spent: 40 * by, expired: 0, clawedBack: 0, outstanding: 60 * by },
        { kind: "trial", issued: 150 * by, spent: 20 * by, expired: 20 * by, clawedBack: 0, outstanding: 110 * by },
        { kind: "adjustment", issued: 0, spent: 0, expired: 0, clawedBack: 0, outstanding: 0 },
      ],
      expiries:
        days === 0
          ? []
          : [
              { month: "2026-03-01", sold: 400, given: 110 },
              { month: "2026-04-01", sold: 100, given: 0 },
              { month: "2026-12-01", sold: 60, given: 0 },
            ],
    },
    answers: {
      models:
        days === 0
          ? []
          : [
              { modelId: "gpt-6.1-sol", name: "GPT-6.1 Sol", ...sums, firstText: { medianMs: 840, p95Ms: 12_400 } },
              {
                modelId: "gpt-6-luna",
                name: "GPT-6 Luna",
                ...sums,
                completed: 5,
                credits: 7,
                soldCredits: 4,
                costMicroDollars: 2_000,
                uncosted: 0,
                firstText: null,
              },
            ],
      buckets: each((index) => ({ ...sums, completed: (8 + (index % 6)) * by, stopped: by, failed: (index % 4) * by })),
      firstText: days === 0 ? null : { medianMs: 840, p95Ms: 12_400 },
    },
  };
}

export const work: WorkFigures = {
  at: "2026-03-03T23:31:00.000Z",
  jobs: { count: 3, isMore: false, oldestAt: "2026-03-03T23:30:58.000Z" },
  stripeEvents: { count: 0, isMore: false, oldestAt: null },
  deadLetters: { count: 1_000, isMore: true },
  clips: { count: 2, isMore: false },
  running: { count: 5, isMore: false },
  providers: [
    { provider: "openai", answers: 40, failed: 2, paused: ["GPT-6 Luna"], available: true },
    { provider: "anthropic", answers: 12, failed: 0, paused: [], available: true },
    { provider: "mistral", answers: 0, failed: 0, paused: [], available: true },
    { provider: "xai", answers: 0, failed: 0, paused: [], available: false },
  ],
};
