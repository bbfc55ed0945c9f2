/** Models by their ids: those of the catalogue, and those that the operator added. */
import { findModel } from "#domain/models.ts";
import type { KnownModel } from "./shown-edition.ts";
import { shownModels } from "./shown-edition.ts";

/** Undefined if this page does not know the model. */
export function knownModel(id: string): KnownModel | undefined {
  return findModel(id) ?? shownModels().own.find((model) => model.id === id);
}
