/** What the sums by day say about one range of days. */
import type { GrantKind } from "#domain/credits.ts";
import type { Movements } from "#domain/figures.ts";
import { isSold, movedFrom, movementCents, noMovements, quantileMs, startsOf, twelfths } from "#domain/figures.ts";
import type { Figures } from "../../contract/figures.ts";
import type { Deps } from "../../deps.ts";
import { modelName } from "../catalogue/service.ts";
import type { AnswerSum, CreditSum, FigureRange, FirstTexts, PeopleSum, SubscriptionSum } from "./queries.ts";
import * as queries from "./queries.ts";

export type RangeFigures = Pick<Figures, "starts" | "revenue" | "subscriptions" | "people" | "answers"> & {
  credits: Omit<Figures["credits"], "expiries">;
};

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

/** The rows of each start, in the order of the starts. */
function byStart<Row extends { start: string | null }>(starts: readonly string[], rows: readonly Row[]): Row[][] {
  const buckets = new Map<string | null, Row[]>(starts.map((start) => [start, []]));
  for (const row of rows) buckets.get(row.start)?.push(row);
  return starts.map((start) => buckets.get(start) ?? []);
}

function movesOf(rows: readonly SubscriptionSum[]): Movements {
  const moves = { ...noMovements };
  for (const row of rows) for (const name of ["new", "expansion", "contraction", "churn"] as const) moves[name] += row[name];
  return moves;
}

function revenueOf(starts: readonly string[], rows: readonly SubscriptionSum[]): Figures["revenue"] {
  const before = movedFrom(0, movesOf(rows.filter(({ start }) => start === null)));
  let reached = before;
  const buckets = byStart(starts, rows).map((bucket) => {
    const moves = movesOf(bucket);
    const cents = movementCents(reached, moves);
    reached = movedFrom(reached, moves);
    return cents;
  });
  return { total: movementCents(before, movesOf(rows.filter(({ start }) => start !== null))), buckets };
}

function subscriptionsOf(starts: readonly string[], rows: readonly SubscriptionSum[]): Figures["subscriptions"] {
  const keys = new Map(rows.map((row) => [`${row.plan_key}_${row.billing_interval}`, row]));
  const buckets = byStart(starts, rows);
  const plans = [...keys.values()].map(({ plan_key: planKey, billing_interval: interval }) => {
    const own = (row: SubscriptionSum) => row.plan_key === planKey && row.billing_interval === interval;
    const runningBefore = total(rows.filter((row) => row.start === null && own(row)).map(({ running }) => running));
    let running = runningBefore;
    const series = buckets.map((bucket) => {
      running += total(bucket.filter(own).map((row) => row.running));
      return running;
    });
    return {
      planKey,
      interval,
      runningBefore,
      running: series,
      mrrCents: Math.round(total(rows.filter(own).map(({ mrr }) => mrr)) / twelfths),
    };
  });
  return {
    plans: plans.filter(({ runningBefore, running }) => runningBefore !== 0 || running.some((count) => count !== 0)),
    started: buckets.map((bucket) => total(bucket.map(({ started }) => started))),
    ended: buckets.map((bucket) => total(bucket.map(({ ended }) => ended))),
  };
}

function peopleOf(starts: readonly string[], rows: readonly PeopleSum[]): Figures["people"] {
  const before = rows.find(({ start }) => start === null);
  const buckets = byStart(starts, rows);
  const series = (pick: (row: PeopleSum) => number) => buckets.map((bucket) => total(bucket.map(pick)));
  return {
    before: before ? before.joined - before.gone : 0,
    joined: series(({ joined }) => joined),
    left: series(({ gone }) => gone),
    trials: series(({ trials }) => trials),
    converted: series(({ converted }) => converted),
  };
}

const creditKinds: readonly GrantKind[] = ["plan", "pack", "trial", "adjustment"];

function creditsOf(starts: readonly string[], rows: readonly CreditSum[]): RangeFigures["credits"] {
  const sum = (some: readonly CreditSum[], pick: (row: CreditSum) => number, sold?: boolean) =>
    total(some.filter((row) => sold === undefined || isSold(row.grant_kind) === sold).map(pick));
  const before = rows.filter(({ start }) => start === null);
  let [outstandingSold, outstandingGiven] = [true, false].map((sold) => sum(before, (row) => row.outstanding, sold)) as [number, number];
  const buckets = byStart(starts, rows).map((bucket) => {
    outstandingSold += sum(bucket, (row) => row.outstanding, true);
    outstandingGiven += sum(bucket, (row) => row.outstanding, false);
    return {
      sold: sum(bucket, (row) => row.issued, true),
      given: sum(bucket, (row) => row.issued, false),
      spent: sum(bucket, (row) => row.spent),
      expired: sum(bucket, (row) => row.expired),
      clawedBack: sum(bucket, (row) => row.clawed_back),
      outstandingSold,
      outstandingGiven,
    };
  });
  const kinds = creditKinds.map((kind) => {
    const own = rows.filter((row) => row.grant_kind === kind);
    const within = own.filter(({ start }) => start !== null);
    return {
      kind,
      issued: sum(within, (row) => row.issued),
      spent: sum(within, (row) => row.spent),
      expired: sum(within, (row) => row.expired),
      clawedBack: sum(within, (row) => row.clawed_back),
      outstanding: sum(own, (row) => row.outstanding),
    };
  });
  return { buckets, kinds };
}

/** Null if no answer had text whose time is known. */
function firstTextOf(texts: readonly FirstTexts[]): Figures["answers"]["firstText"] {
  const [medianMs, p95Ms] = [quantileMs(texts, 0.5), quantileMs(texts, 0.95)];
  return medianMs === null || p95Ms === null ? null : { medianMs, p95Ms };
}

function answersOf(
  deps: Pick<Deps, "config">,
  starts: readonly string[],
  rows: readonly AnswerSum[],
  texts: readonly FirstTexts[],
): Figures["answers"] {
  const sumsOf = (some: readonly AnswerSum[]) => ({
    completed: total(some.map((row) => row.completed)),
    stopped: total(some.map((row) => row.stopped)),
    failed: total(some.map((row) => row.failed)),
    credits: total(some.map((row) => row.credits)),
    soldCredits: total(some.map((row) => row.sold_credits)),
    costMicroDollars: total(some.map((row) => row.cost_micro_dollars)),
    uncosted: total(some.map((row) => row.uncosted)),
  });
  const models = [...new Set(rows.map((row) => row.model_id))].map((modelId) => ({
    modelId,
    name: modelName(deps, modelId),
    ...sumsOf(rows.filter((row) => row.model_id === modelId)),
    firstText: firstTextOf(texts.filter((row) => row.model_id === modelId)),
  }));
  const count = ({ completed, stopped, failed }: (typeof models)[number]) => completed + stopped + failed;
  return {
    models: models.sort((one, other) => count(other) - count(one)),
    buckets: byStart(starts, rows).map(sumsOf),
    firstText: firstTextOf(texts),
  };
}

export async function readRange(deps: Pick<Deps, "db" | "config">, range: FigureRange): Promise<RangeFigures> {
  const { db } = deps;
  const starts = startsOf(range.from, range.to, range.unit);
  const [subscriptions, people, credits, answers, texts] = await Promise.all([
    queries.selectSubscriptions(db, range),
    queries.selectPeople(db, range),
    queries.selectCredits(db, range),
    queries.selectAnswers(db, range),
    queries.selectFirstTexts(db, range),
  ]);
  return {
    starts,
    revenue: revenueOf(starts, subscriptions),
    subscriptions: subscriptionsOf(starts, subscriptions),
    people: peopleOf(starts, people),
    credits: creditsOf(starts, credits),
    answers: answersOf(deps, starts, answers, texts),
  };
}

/** What is outstanding today, by the month in which it expires. */
export async function readExpiries({ db }: Pick<Deps, "db">): Promise<Figures["credits"]["expiries"]> {
  const months = new Map<string, Figures["credits"]["expiries"][number]>();
  for (const { month, grant_kind: kind, outstanding } of await queries.selectExpiries(db)) {
    const known = months.get(month) ?? { month, sold: 0, given: 0 };
    known[isSold(kind) ? "sold" : "given"] += outstanding;
    months.set(month, known);
  }
  return [...months.values()];
}
