/** The models that a page shows: those of its edition of the catalogue and the operator's own, without those that are switched off. */
import type { Model } from "#domain/models.ts";
import { catalogue, catalogueAsOf, findModel, isOffered, livingModel, startOf } from "#domain/models.ts";
import type { KnownModel } from "./shown-edition.ts";
import { shownEdition, shownModels } from "./shown-edition.ts";

const now = () => startOf(shownEdition() ?? catalogueAsOf);

const priced = <Sold extends KnownModel>(model: Sold): Sold => ({ ...model, credits: shownModels().prices[model.id] ?? model.credits });

/** All models of the page, including those that are switched off. */
export function listedModels(): readonly KnownModel[] {
  const { own, ended = [] } = shownModels();
  return [...catalogue.filter((model) => isOffered(model, now())), ...own.filter(({ id }) => !ended.includes(id))].map(priced);
}

export function offeredModels(): readonly KnownModel[] {
  return listedModels().filter(({ id }) => !shownModels().off.includes(id));
}

/**
 * The model to show for the named one: itself while it is offered, then its successor, or else one of its kind and price. If there is none,
 * it is the named one although it is switched off, so that no sentence breaks off.
 */
export function currentModel(id: string): KnownModel | undefined {
  const { off } = shownModels();
  const named = livingModel(findModel, id, now());
  const isAlike = ({ unit, category, credits }: KnownModel) =>
    unit === named?.unit && category === named.category && credits === named.credits;
  const model = livingModel(findModel, id, now(), off) ?? offeredModels().find(isAlike) ?? named;
  return model && priced(model);
}

/** The first model of a size or a kind, for examples. */
export function firstModel(wanted: Partial<Pick<Model, "size" | "category" | "unit">>): KnownModel | undefined {
  const entries = Object.entries(wanted) as [keyof typeof wanted, string][];
  return offeredModels().find((model) => entries.every(([key, value]) => model[key] === value));
}
