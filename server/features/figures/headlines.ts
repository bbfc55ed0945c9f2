/** What a range of days comes down to, and by how much that differs from the range before. */
import { marginMicroDollars, microDollarsPerCent, percentOf } from "#domain/figures.ts";
import type { HeadlineName } from "#domain/headline-figures.ts";
import { changeOf, headlineNames } from "#domain/headline-figures.ts";
import type { Figures, HeadlineFigure } from "../../contract/figures.ts";
import type { RangeFigures } from "./range.ts";

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

function valuesOf({ revenue, subscriptions, people, credits, answers }: RangeFigures): Record<HeadlineName, number | null> {
  const { start: _start, end: mrr, ...moves } = revenue.total;
  const [joined, left, trials, converted] = [people.joined, people.left, people.trials, people.converted].map(total) as [
    number,
    number,
    number,
    number,
  ];
  const flow = (name: "sold" | "given" | "spent" | "expired" | "clawedBack") => total(credits.buckets.map((bucket) => bucket[name]));
  const ofAnswers = (pick: (bucket: (typeof answers.buckets)[number]) => number) => total(answers.buckets.map(pick));
  const count = ofAnswers(({ completed, stopped, failed }) => completed + stopped + failed);
  const [sold, cost] = [ofAnswers(({ soldCredits }) => soldCredits), ofAnswers(({ costMicroDollars }) => costMicroDollars)];
  return {
    "revenue.mrr": mrr,
    "revenue.new": moves.new,
    "revenue.expansion": moves.expansion,
    "revenue.contraction": moves.contraction,
    "revenue.churn": moves.churn,
    "subscriptions.running": total(subscriptions.plans.map(({ running }) => running.at(-1) ?? 0)),
    "subscriptions.started": total(subscriptions.started),
    "subscriptions.ended": total(subscriptions.ended),
    "people.people": people.before + joined - left,
    "people.joined": joined,
    "people.left": left,
    "people.trials": trials,
    "people.converted": converted,
    "people.conversion": percentOf(converted, trials),
    "credits.sold": flow("sold"),
    "credits.given": flow("given"),
    "credits.spent": flow("spent"),
    "credits.expired": flow("expired"),
    "credits.clawedBack": flow("clawedBack"),
    "credits.outstanding": total(credits.kinds.map(({ outstanding }) => outstanding)),
    "answers.answers": count,
    "answers.failures": percentOf(
      ofAnswers(({ failed }) => failed),
      count,
    ),
    "answers.firstText": answers.firstText?.medianMs ?? null,
    "answers.firstTextSlow": answers.firstText?.p95Ms ?? null,
    "answers.cost": Math.round(cost / microDollarsPerCent),
    "answers.margin": Math.round(marginMicroDollars(sold, cost) / microDollarsPerCent),
  };
}

/** `earlier` is null if nothing was counted before the range. */
export function headlinesOf(figures: RangeFigures, earlier: RangeFigures | null): HeadlineFigure[] {
  const values = valuesOf(figures);
  const before = earlier && valuesOf(earlier);
  return headlineNames.map((name) => {
    const { change, percent } = changeOf(name, values[name], before?.[name] ?? null);
    return { name, value: values[name], before: before?.[name] ?? null, change, changePercent: percent };
  });
}

/** What the charts draw of the range before. */
export function beforeOf({
  starts,
  revenue,
  subscriptions,
  people,
  credits,
  answers,
}: RangeFigures): Omit<NonNullable<Figures["before"]>, "from" | "to" | "countedFrom"> {
  return {
    mrrCents: revenue.buckets.map(({ end }) => end),
    running: starts.map((_, place) => total(subscriptions.plans.map(({ running }) => running[place] ?? 0))),
    joined: people.joined,
    spentCredits: credits.buckets.map(({ spent }) => spent),
    outstandingCredits: credits.buckets.map(({ outstandingSold, outstandingGiven }) => outstandingSold + outstandingGiven),
    answers: answers.buckets.map(({ completed, stopped, failed }) => completed + stopped + failed),
  };
}
