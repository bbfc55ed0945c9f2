import { mayAnswer, successorOf } from "./model-choice.ts";
import type { OfferedModel } from "./models-store.ts";
import { endedModel } from "./models-store.ts";

interface AskedAgain {
  /** The model that answered, if it can't be asked now. */
  lost: OfferedModel | undefined;
  /** The one that follows it, if there is one and it can be asked. */
  successor: OfferedModel | undefined;
  /** The model that the dialog preselects; without one the person has to choose. */
  model: OfferedModel | undefined;
}

/**
 * The model to ask again if the person has chosen none: the one that answered, or else its successor if that is of the same kind and no
 * dearer. `fitting`: the models that can answer this. `all`: the models that are offered.
 */
export function askedAgain(fitting: readonly OfferedModel[], all: readonly OfferedModel[], answeredId: string | undefined): AskedAgain {
  const model = fitting.find(({ id }) => id === answeredId);
  const answered = answeredId === undefined ? undefined : (all.find(({ id }) => id === answeredId) ?? endedModel(answeredId));
  if (model || !answered || mayAnswer(answered)) return { lost: undefined, successor: undefined, model };
  const successor = successorOf(fitting, answered.id);
  const isAlike = successor?.unit === answered.unit && successor.credits <= answered.credits;
  return { lost: answered, successor, model: isAlike ? successor : undefined };
}
