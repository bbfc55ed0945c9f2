import type { Static } from "typebox";
import { Type } from "typebox";
import { grantKinds } from "../domain/credits.ts";
import { presetRanges } from "../domain/figures.ts";
import { headlineNames } from "../domain/headline-figures.ts";
import { billingIntervals } from "../domain/plans.ts";
import { Cents, Timestamp } from "./common.ts";
import type { RouteContract } from "./route.ts";

const Day = Type.String({ format: "date" });
const Count = Type.Integer({ minimum: 0 });
const Moves = { new: Cents, expansion: Cents, contraction: Cents, churn: Cents };
/** May be below zero, because of corrections of earlier days and of spent credits that were taken back. */
const Balance = Type.Integer();

const Revenue = Type.Object({ start: Cents, ...Moves, end: Cents });

const CreditSums = {
  sold: Balance,
  given: Balance,
  spent: Balance,
  expired: Balance,
  clawedBack: Balance,
};

const AnswerSums = {
  completed: Count,
  stopped: Count,
  failed: Count,
  credits: Count,
  soldCredits: Count,
  costMicroDollars: Count,
  /** Answers that were charged and whose cost we don't know. */
  uncosted: Count,
};

/** Time to the first text: the median, and the time within which all but a twentieth of the answers had theirs. Null: no answer had text. */
const FirstText = Type.Union([Type.Object({ medianMs: Count, p95Ms: Count }), Type.Null()]);

const Known = Type.Union([Type.Number(), Type.Null()]);

/** One figure of the range and of the equally long range directly before. Null: not known, because there is nothing to compute it from. */
const HeadlineFigure = Type.Object({
  name: Type.Enum([...headlineNames]),
  value: Known,
  before: Known,
  change: Known,
  /** The change as a share of what was before; null also for shares, which change by points. */
  changePercent: Known,
});
export type HeadlineFigure = Static<typeof HeadlineFigure>;

/** A line of the file. */
export const HeadlineLine = Type.Object({
  from: Day,
  to: Day,
  beforeFrom: Type.Union([Day, Type.Null()]),
  beforeTo: Type.Union([Day, Type.Null()]),
  name: HeadlineFigure.properties.name,
  unit: Type.String(),
  value: Known,
  before: Known,
  change: Known,
  changePercent: Known,
});
export type HeadlineLine = Static<typeof HeadlineLine>;

/** The range before. The figures are one for each of its own days or months, in order. */
const RangeBefore = Type.Object({
  from: Day,
  to: Day,
  /** The first day of which anything is counted, if it is within that range. */
  countedFrom: Type.Union([Day, Type.Null()]),
  mrrCents: Type.Array(Type.Integer()),
  running: Type.Array(Type.Integer()),
  joined: Type.Array(Count),
  spentCredits: Type.Array(Balance),
  outstandingCredits: Type.Array(Balance),
  answers: Type.Array(Count),
});

export const Figures = Type.Object({
  from: Day,
  to: Day,
  unit: Type.Union([Type.Literal("day"), Type.Literal("month")]),
  /** Everything that was written until then is counted; null: the figures have never been added up. */
  completeUntil: Type.Union([Timestamp, Type.Null()]),
  /** The first day of each day or month of the range. The arrays below are in this order. */
  starts: Type.Array(Day),
  headlines: Type.Array(HeadlineFigure),
  /** Null: nothing was counted before the range. */
  before: Type.Union([RangeBefore, Type.Null()]),
  revenue: Type.Object({ total: Revenue, buckets: Type.Array(Revenue) }),
  subscriptions: Type.Object({
    /** Each plan of which any subscription runs, or ran within the range. */
    plans: Type.Array(
      Type.Object({
        planKey: Type.String(),
        interval: Type.Enum([...billingIntervals]),
        running: Type.Array(Type.Integer()),
        runningBefore: Type.Integer(),
        mrrCents: Cents,
      }),
    ),
    started: Type.Array(Count),
    ended: Type.Array(Count),
  }),
  people: Type.Object({
    before: Type.Integer(),
    joined: Type.Array(Count),
    left: Type.Array(Count),
    trials: Type.Array(Count),
    /** How many of the trials that began then became a paid plan. */
    converted: Type.Array(Count),
  }),
  credits: Type.Object({
    buckets: Type.Array(Type.Object({ ...CreditSums, outstandingSold: Balance, outstandingGiven: Balance })),
    kinds: Type.Array(
      Type.Object({
        kind: Type.Enum([...grantKinds]),
        issued: Balance,
        spent: Balance,
        expired: Balance,
        clawedBack: Balance,
        /** At the end of the range. */
        outstanding: Balance,
      }),
    ),
    /** What is outstanding today, by the month in which it expires. */
    expiries: Type.Array(Type.Object({ month: Day, sold: Balance, given: Balance })),
  }),
  answers: Type.Object({
    models: Type.Array(Type.Object({ modelId: Type.String(), name: Type.String(), ...AnswerSums, firstText: FirstText })),
    buckets: Type.Array(Type.Object(AnswerSums)),
    firstText: FirstText,
  }),
});
export type Figures = Static<typeof Figures>;

/** A number of rows. Counting stops early, so that it stays cheap. */
const Bounded = Type.Object({ count: Count, isMore: Type.Boolean() });

export const WorkFigures = Type.Object({
  at: Timestamp,
  /** Jobs that were written and are not done. */
  jobs: Type.Object({ ...Bounded.properties, oldestAt: Type.Union([Timestamp, Type.Null()]) }),
  stripeEvents: Type.Object({ ...Bounded.properties, oldestAt: Type.Union([Timestamp, Type.Null()]) }),
  deadLetters: Bounded,
  clips: Bounded,
  running: Bounded,
  /** Counted over the newest answers of the last hour. */
  providers: Type.Array(
    Type.Object({
      /** The provider's name in the list of models. A server of the operator's has its own name. */
      provider: Type.String(),
      answers: Count,
      failed: Count,
      /** Offered models that this process does not ask for a while, because they failed. */
      paused: Type.Array(Type.String()),
      /** Whether we have credentials for it. */
      available: Type.Boolean(),
    }),
  ),
});
export type WorkFigures = Static<typeof WorkFigures>;

/** A range that ends today, or the days. */
const AskedRange = Type.Object(
  { range: Type.Optional(Type.Enum([...presetRanges])), from: Type.Optional(Day), to: Type.Optional(Day) },
  { additionalProperties: false },
);
export type AskedRange = Static<typeof AskedRange>;

export const figureRoutes = {
  "GET /api/admin/figures": {
    summary:
      "For admins: revenue, subscriptions, people, credits and answers of a range of days in UTC, by day or, if it is long, by month",
    querystring: AskedRange,
    response: { 200: Figures },
  },
  "GET /api/admin/figures.csv": {
    summary: "For admins: the headline figures of a range beside those of the range before, as CSV",
    querystring: AskedRange,
    response: { 200: Type.Any({ description: "text/csv" }) },
  },
  "GET /api/admin/work": {
    summary: "For admins: what waits to be done now, and how the providers answer",
    response: { 200: WorkFigures },
  },
} as const satisfies Record<string, RouteContract>;
