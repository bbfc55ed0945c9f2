/** Which models admins have switched off and what prices they have planned, in this process's memory (features/catalogue/switches.ts). */
import type { LanguageCode } from "#domain/languages.ts";

/** What people read of a model that is switched off. */
export type OffTexts = Partial<Record<LanguageCode, string>>;

export interface ModelSwitch {
  off: boolean;
  texts: OffTexts;
  version: number;
  changedAt: Date;
}

/** What a unit of the model costs from the beginning of a day in UTC on. */
export interface PlannedPrice {
  beginsOn: string;
  credits: number;
}

interface Decisions {
  switches: ReadonlyMap<string, ModelSwitch>;
  prices: ReadonlyMap<string, readonly PlannedPrice[]>;
}

export interface ModelSwitches {
  /** By the model's id. Has every model that was ever switched. */
  find(modelId: string): ModelSwitch | undefined;
  /** By the model's id, in the order of their days, including prices that have begun. */
  pricesOf(modelId: string): readonly PlannedPrice[];
  replace(decisions: Decisions): void;
}

/** Empty until the rows are read. */
export function createModelSwitches(): ModelSwitches {
  let known: Decisions = { switches: new Map(), prices: new Map() };
  return {
    find: (modelId) => known.switches.get(modelId),
    pricesOf: (modelId) => known.prices.get(modelId) ?? [],
    replace(decisions) {
      known = decisions;
    },
  };
}
