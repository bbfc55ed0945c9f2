import { knownModel } from "#client/lib/known-models.ts";
import type { OfferedModel } from "./models-store.ts";
import { endedModel } from "./models-store.ts";

/** We know that the model is not available. */
export function isUnusable(model: OfferedModel): boolean {
  return model.available === false;
}

/** Whether the model can be asked. The free trial covers only some. */
export function mayAnswer(model: OfferedModel): boolean {
  return !isUnusable(model) && !model.needsPlan;
}

/** Whether the model can be asked to read an answer aloud. */
export function readsAloud(model: OfferedModel): boolean {
  return model.unit === "thousand_characters" && mayAnswer(model);
}

/**
 * The model for the next send. A model that the person chose is kept even if it is unavailable or has ended: they are told, and choose
 * again. Without a choice it is the model used last or, if that is missing or unavailable, a small one.
 */
export function preferredModel(models: readonly OfferedModel[], chosen: string | null, last: string | null): OfferedModel | undefined {
  const choice = models.find(({ id }) => id === chosen);
  if (choice) return choice;
  const ended = chosen === null ? undefined : endedModel(chosen);
  if (ended) return ended;
  return (
    models.find((model) => model.id === last && mayAnswer(model)) ?? models.find((model) => model.size === "small" && mayAnswer(model))
  );
}

/** The model among these that follows one that has left. */
export function successorOf(models: readonly OfferedModel[], id: string): OfferedModel | undefined {
  const next = knownModel(id)?.successor;
  if (next === undefined) return undefined;
  return models.find((model) => model.id === next) ?? successorOf(models, next);
}

/** A replacement for `than` that `available` credits can pay: if possible of the same kind, and no dearer. */
export function payableModel(models: readonly OfferedModel[], than: OfferedModel | undefined, available: number): OfferedModel | undefined {
  const payable = models.filter((model) => model.id !== than?.id && mayAnswer(model) && model.credits <= available);
  const alike = payable.filter(({ category, unit }) => category === than?.category && unit === than.unit);
  return alike.find(({ credits }) => than !== undefined && credits <= than.credits) ?? alike[0] ?? payable[0];
}

/** What most people come for: an everyday answer, a hard question, a picture, what is on the web. */
const begins: readonly ((model: OfferedModel) => boolean)[] = [
  ({ size }) => size === "small",
  ({ size }) => size === "large",
  ({ unit }) => unit === "image",
  ({ category }) => category === "search",
];

/**
 * A few models for the start, the cheapest of each kind. Where a kind is missing, such as in the free trial, another small one that is good
 * for something else stands in. The chosen one is among them.
 */
export function shortlist(models: readonly OfferedModel[], chosen: string | undefined): OfferedModel[] {
  const usable = models.filter(mayAnswer).toSorted((one, other) => one.credits - other.credits);
  const kinds = begins.flatMap((isKind) => usable.find(isKind) ?? []);
  const different = usable.filter(({ goodFor }, index) => usable.findIndex((other) => other.goodFor === goodFor) === index);
  const others = different.filter((model) => model.size === "small" && !kinds.includes(model));
  const few = [...kinds, ...others].slice(0, begins.length);
  const other = models.find(({ id }) => id === chosen);
  return !other || few.includes(other) ? few : [...few.slice(0, -1), other];
}
