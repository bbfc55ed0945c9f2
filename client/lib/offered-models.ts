/** The models that a page shows: those of its edition of the catalogue. */
import type { CatalogueModel, Model } from "#domain/models.ts";
import { catalogueAsOf, livingModel, modelsAt, startOf } from "#domain/models.ts";
import { shownEdition } from "./shown-edition.ts";

const now = () => startOf(shownEdition() ?? catalogueAsOf);

export function offeredModels(): readonly CatalogueModel[] {
  return modelsAt(now());
}

/** The model that stands for the named one: itself while it is offered, then its successor. */
export function currentModel(id: string): CatalogueModel | undefined {
  return livingModel(id, now());
}

/** The first model of a size or a kind, for examples. */
export function firstModel(wanted: Partial<Pick<Model, "size" | "category" | "unit">>): CatalogueModel | undefined {
  const entries = Object.entries(wanted) as [keyof typeof wanted, string][];
  return offeredModels().find((model) => entries.every(([key, value]) => model[key] === value));
}
