import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { longestYears, presetDays, unitOf } from "#domain/figures.ts";
import { headlineFigures, rangeBefore } from "#domain/headline-figures.ts";
import type { Model } from "#domain/models.ts";
import type { AskedRange, Figures, HeadlineLine, WorkFigures } from "../../contract/figures.ts";
import type { Deps } from "../../deps.ts";
import { listModels, offeredModels, soldModel } from "../catalogue/service.ts";
import { beforeOf, headlinesOf } from "./headlines.ts";
import type { FigureRange, NewestAnswers } from "./queries.ts";
import * as queries from "./queries.ts";
import { readExpiries, readRange } from "./range.ts";

function refuse(message: string): never {
  throw new DomainError("validation_failed", message, { fields: [{ field: "from", message }] });
}

function rangeOf(asked: AskedRange, now: Date): FigureRange {
  const { from, to } = asked.range ? presetDays(asked.range, now) : asked;
  if (from === undefined || to === undefined) refuse("Name a range, or its first and its last day");
  if (from > to) refuse("The range ends before it begins");
  if (Date.parse(to) - Date.parse(from) > longestYears * 366 * dayMs) refuse(`A range has at most ${longestYears} years`);
  return { from, to, unit: unitOf(from, to) };
}

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

type FigureDeps = Pick<Deps, "db" | "config" | "clock">;

/** The figures of a range of days in UTC, both inclusive, and by how much they differ from those of the equally long range directly before. */
export async function readFigures(deps: FigureDeps, asked: AskedRange): Promise<Figures> {
  const range = rangeOf(asked, deps.clock.now());
  const { from, to } = rangeBefore(range);
  const [firstDay, completeUntil] = await Promise.all([queries.selectFirstDay(deps.db), queries.selectCompleteUntil(deps.db)]);
  const [figures, expiries, earlier] = await Promise.all([
    readRange(deps, range),
    readExpiries(deps),
    firstDay === null || firstDay > to ? null : readRange(deps, { from, to, unit: range.unit }),
  ]);
  return {
    ...range,
    ...figures,
    credits: { ...figures.credits, expiries },
    completeUntil: completeUntil?.toISOString() ?? null,
    headlines: headlinesOf(figures, earlier),
    before: earlier && { from, to, countedFrom: firstDay !== null && firstDay > from ? firstDay : null, ...beforeOf(earlier) },
  };
}

/** The headline figures, one a line. */
export async function readHeadlineLines(deps: FigureDeps, asked: AskedRange): Promise<HeadlineLine[]> {
  const { from, to, before, headlines } = await readFigures(deps, asked);
  const days = { from, to, beforeFrom: before?.from ?? null, beforeTo: before?.to ?? null };
  return headlines.map((figure) => ({ ...days, unit: headlineFigures[figure.name].unit, ...figure }));
}

function providersOf(
  deps: Pick<Deps, "config" | "models" | "clock" | "switches">,
  answers: readonly NewestAnswers[],
): WorkFigures["providers"] {
  const nameOf = (model: Model | undefined) => model && (model.own?.server ?? model.provider);
  const listed = listModels(deps).models;
  const answersOf = (provider: string) => answers.filter((row) => nameOf(soldModel(deps, row.model_id)) === provider);
  return [...new Set(listed.map(({ provider }) => provider))].map((provider) => {
    const own = answersOf(provider);
    const offered = offeredModels(deps).filter((model) => nameOf(model) === provider);
    return {
      provider,
      answers: total(own.map((row) => row.answers)),
      failed: total(own.map((row) => row.failed)),
      paused: listed.flatMap((model) => (model.provider === provider && model.pausedSeconds !== null ? [model.name] : [])),
      available: offered.some((model) => deps.models.isAvailable(model)),
    };
  });
}

/** What waits now, and how the providers answered within the last hour. */
export async function readWork(deps: Pick<Deps, "db" | "clock" | "models" | "config" | "switches">): Promise<WorkFigures> {
  const [waiting, answers] = await Promise.all([queries.selectWaiting(deps.db), queries.selectNewestAnswers(deps.db)]);
  const bounded = ({ count, isMore }: queries.WaitingRows) => ({ count, isMore });
  return {
    at: deps.clock.now().toISOString(),
    jobs: waiting.jobs,
    stripeEvents: waiting.events,
    deadLetters: bounded(waiting.letters),
    clips: bounded(waiting.clips),
    running: bounded(waiting.running),
    providers: providersOf(deps, answers),
  };
}

export interface ModelAnswers {
  answers: number;
  failed: number;
}

/** By model: the answers of this day in UTC, as far as they are added up, and the newest ones of the last hour. */
export async function readModelAnswers({ db, clock }: Pick<Deps, "db" | "clock">) {
  const today = clock.now().toISOString().slice(0, 10);
  const [sums, newest] = await Promise.all([
    queries.selectAnswers(db, { from: today, to: today, unit: "day" }),
    queries.selectNewestAnswers(db),
  ]);
  const ofToday = sums.map((row): [string, ModelAnswers] => [
    row.model_id,
    { answers: row.completed + row.stopped + row.failed, failed: row.failed },
  ]);
  const ofLastHour = newest.map(({ model_id: id, answers, failed }): [string, ModelAnswers] => [id, { answers, failed }]);
  return { today: new Map(ofToday), lastHour: new Map(ofLastHour) };
}

/** What was answered and charged within the last days, as far as it is added up, and for how many accounts. */
export async function readModelUse({ db, clock }: Pick<Deps, "db" | "clock">, modelId: string, days: number) {
  const now = clock.now();
  const range = {
    from: addMilliseconds(now, -days * dayMs)
      .toISOString()
      .slice(0, 10),
    to: now.toISOString().slice(0, 10),
    unit: "day",
  } as const;
  const [sums, { accounts, isMore }] = await Promise.all([
    queries.selectAnswers(db, range),
    queries.countAccounts(db, modelId, range.from),
  ]);
  const own = sums.filter((row) => row.model_id === modelId);
  const sum = (of: (row: (typeof own)[number]) => number) => own.reduce((total, row) => total + of(row), 0);
  return { accounts, hasMoreAccounts: isMore, answers: sum((row) => row.completed + row.stopped), credits: sum((row) => row.credits) };
}
