import { create } from "zustand";
import { api } from "#client/lib/api.ts";
import { offeredModels } from "#client/lib/offered-models.ts";
import { shownEdition } from "#client/lib/shown-edition.ts";
import type { ModelList } from "#contract/catalogue.ts";
import type { CatalogueModel, Model, ModelCategory } from "#domain/models.ts";
import { findModel, isBuilt, isInTrial } from "#domain/models.ts";
import type { GoodFor } from "./good-for.ts";
import { goodFor } from "./good-for.ts";

/** A model of the catalogue with what only the server knows. */
export interface OfferedModel {
  id: string;
  name: string;
  provider: Model["provider"];
  category: ModelCategory;
  unit: Model["unit"];
  size: Model["size"];
  credits: number;
  goodFor: GoodFor;
  /** Undefined until the server has answered. */
  available: boolean | undefined;
  /** It is out of order, and will be tried again. */
  paused: boolean;
  /** The person is on the free trial, which doesn't cover this model. */
  needsPlan: boolean;
  sandbox: boolean;
  /** Whether the product can use it (`isBuilt`). */
  built: boolean;
  /** The day, in UTC, on which it leaves; null while no end is announced. */
  until: string | null;
  /** It has left: conversations keep its name, and go on with another model. */
  ended: boolean;
}

interface ModelsState {
  status: "idle" | "ready" | "failed";
  models: readonly OfferedModel[];
  onTrial: boolean;
}

function offered(model: CatalogueModel, onTrial: boolean): OfferedModel {
  const { id, name, provider, category, unit, size, credits } = model;
  const needsPlan = onTrial && !isInTrial(model);
  const told = { available: undefined, paused: false, needsPlan, sandbox: false, until: null, ended: false };
  return { id, name, provider, category, unit, size, credits, goodFor: goodFor[id], built: isBuilt(model), ...told };
}

/** A model that is not offered any more, for a conversation that used it; undefined if this page does not know it. */
export function endedModel(id: string): OfferedModel | undefined {
  const model = findModel(id);
  return model && { ...offered(model, false), available: false, ended: true };
}

let drawn: { edition: string | undefined; models: readonly OfferedModel[] } | undefined;

/** We know names and prices without the network, but not which models are available. */
function drawnModels(): readonly OfferedModel[] {
  const edition = shownEdition();
  if (!drawn || drawn.edition !== edition) drawn = { edition, models: offeredModels().map((model) => offered(model, false)) };
  return drawn.models;
}

/** The first state has a getter, because every edition of the catalogue is prerendered with this module. */
export const useModels = create<ModelsState>(() => ({
  status: "idle",
  get models() {
    return drawnModels();
  },
  onTrial: false,
}));

/** Marks the models that the free trial does not cover while the person is on it. */
export function noteTrial(onTrial: boolean): void {
  useModels.setState((state) => ({
    onTrial,
    models: state.models.map((model) => ({ ...model, needsPlan: onTrial && !isInTrial(model) })),
  }));
}

/** The models that the server offers today, in the catalogue's order, as far as this page knows them. */
function offeredOf({ models }: ModelList, onTrial: boolean): OfferedModel[] {
  return models.flatMap(({ id, credits, available, sandbox, until, pausedSeconds }) => {
    const model = findModel(id);
    // The server's price counts, because this page may be older than the catalogue.
    return model ? [{ ...offered(model, onTrial), credits, available, sandbox, until, paused: typeof pausedSeconds === "number" }] : [];
  });
}

let nextTry: ReturnType<typeof setTimeout> | undefined;

/** Asks again when the first of the models that are out of order may work again. */
function refreshAfterPause({ models }: ModelList): void {
  clearTimeout(nextTry);
  const pauses = models.flatMap(({ pausedSeconds }) => pausedSeconds ?? []);
  if (pauses.length > 0) nextTry = setTimeout(() => void refreshModels(), (Math.min(...pauses) + 1) * 1_000);
}

export async function refreshModels(): Promise<void> {
  try {
    const list = await api("GET /api/models");
    useModels.setState((state) => ({ status: "ready", models: offeredOf(list, state.onTrial) }));
    refreshAfterPause(list);
  } catch {
    useModels.setState((state) => ({ status: state.status === "ready" ? "ready" : "failed" }));
  }
}
