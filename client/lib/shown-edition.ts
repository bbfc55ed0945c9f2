/**
 * What a page knows of the models besides the catalogue: the edition that it shows (`catalogueEditions`), which of its models are switched
 * off, and those that the operator added. The server writes this into every document, which was drawn with it, so the browser hydrates
 * the same models that the HTML has.
 */
import type { Model } from "#domain/models.ts";

/** The provider's id and its prices stay on the server. */
export type KnownModel = Omit<Model, "upstreamModel">;

export interface Shown {
  /** Undefined if the document names none. */
  edition?: string | undefined;
  off: readonly string[];
  own: readonly KnownModel[];
  /** The ids of the operator's models that have ended. Their days are in no edition. */
  ended?: readonly string[];
  /** In credits by the models' ids: those that are not the catalogue's. */
  prices: Readonly<Record<string, number>>;
}

let shown: Shown | undefined;

/** For drawing: what is drawn from now on shows these models. */
export function showModels(models: Shown): void {
  shown = models;
}

/** There is no document when pages are drawn. */
const { document } = globalThis as { document?: { documentElement: { dataset: { catalogue?: string; models?: string } } } };

export function shownModels(): Shown {
  if (!shown) {
    const { catalogue, models = "{}" } = document?.documentElement.dataset ?? {};
    shown = { edition: catalogue, off: [], own: [], prices: {}, ...(JSON.parse(models) as Partial<Shown>) };
  }
  return shown;
}

/** The first day of the edition. */
export const shownEdition = () => shownModels().edition;
