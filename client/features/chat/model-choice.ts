import { isBuilt } from "#domain/models.ts";
import type { OfferedModel } from "./models-store.ts";

/** Of a kind that can't be used yet, or known not to be available here. */
export function isUnusable(model: OfferedModel): boolean {
  return !isBuilt(model) || model.available === false;
}

const mayAnswer = (model: OfferedModel) => !isUnusable(model);

/**
 * The model a send goes to. What the person chose stands, even where it can't be reached just now: they are told, and
 * choose anew. Without a choice it is the one used last, and where that can't be reached, or there is none, a small one.
 */
export function preferredModel(models: readonly OfferedModel[], chosen: string | null, last: string | null): OfferedModel | undefined {
  const choice = models.find(({ id }) => id === chosen);
  if (choice) return choice;
  return (
    models.find((model) => model.id === last && mayAnswer(model)) ?? models.find((model) => model.size === "small" && mayAnswer(model))
  );
}

/** What to take instead of `than`: one of its kind that `available` credits still pay, or of another where there is none. */
export function payableModel(models: readonly OfferedModel[], than: OfferedModel | undefined, available: number): OfferedModel | undefined {
  const payable = models.filter((model) => model.id !== than?.id && mayAnswer(model) && model.credits <= available);
  return payable.find(({ category }) => category === than?.category) ?? payable[0];
}

const shortlistLength = 4;

/** A few to begin with, the cheapest first, each good for something else; the chosen one is among them. */
export function shortlist(models: readonly OfferedModel[], chosen: string | undefined): OfferedModel[] {
  const usable = models.filter(mayAnswer).toSorted((one, other) => one.credits - other.credits);
  const different = usable.filter(({ goodFor }, index) => usable.findIndex((other) => other.goodFor === goodFor) === index);
  const small = different.filter(({ size }) => size === "small").slice(0, 1);
  const few = [...small, ...different.filter((model) => model.size !== "small")].slice(0, shortlistLength);
  const other = models.find(({ id }) => id === chosen);
  return !other || few.includes(other) ? few : [...few.slice(0, -1), other];
}
