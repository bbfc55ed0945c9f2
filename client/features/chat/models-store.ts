import { create } from "zustand";
import { api } from "#client/lib/api.ts";
import { knownModel } from "#client/lib/known-models.ts";
import { listedModels } from "#client/lib/offered-models.ts";
import type { KnownModel, Shown } from "#client/lib/shown-edition.ts";
import { shownModels } from "#client/lib/shown-edition.ts";
import type { ModelList } from "#contract/catalogue.ts";
import type { Model, ModelCategory } from "#domain/models.ts";
import { isInTrial } from "#domain/models.ts";
import type { GoodFor } from "./good-for.ts";
import { goodForOf } from "./good-for.ts";

/** A model of the catalogue with what only the server knows. */
export interface OfferedModel {
  id: string;
  name: string;
  provider: Model["provider"];
  /** Who serves it, if its operator added it. */
  server: string | undefined;
  category: ModelCategory;
  unit: Model["unit"];
  size: Model["size"];
  credits: number;
  goodFor: GoodFor | undefined;
  /** Undefined until the server has answered. */
  available: boolean | undefined;
  /** It is out of order until then, in milliseconds of this device's clock; null while it is not. */
  retryAtMs: number | null;
  /** The person is on the free trial, which doesn't cover this model. */
  needsPlan: boolean;
  sandbox: boolean;
  /** If an admin has switched it off: the explanation that people read, by language. Null while it is on. */
  off: Readonly<Record<string, string>> | null;
  /** The day, in UTC, on which it leaves; null while no end is announced. */
  until: string | null;
  /** What it costs next, and from which day in UTC on; null while no other price is planned. */
  nextPrice: { beginsOn: string; credits: number } | null;
  /** It has left: conversations keep its name, and go on with another model. */
  ended: boolean;
}

interface ModelsState {
  status: "idle" | "ready" | "failed";
  models: readonly OfferedModel[];
  onTrial: boolean;
}

function offered(model: KnownModel, onTrial: boolean): OfferedModel {
  const { id, name, provider, category, unit, size, credits } = model;
  const needsPlan = onTrial && !isInTrial(model);
  const told = { available: undefined, retryAtMs: null, needsPlan, sandbox: false, off: null, until: null, nextPrice: null, ended: false };
  return {
    id,
    name,
    provider,
    category,
    unit,
    size,
    credits,
    server: model.own?.server,
    goodFor: goodForOf(id),
    ...told,
  };
}

/** A model that is not offered any more, for a conversation that used it; undefined if this page does not know it. */
export function endedModel(id: string): OfferedModel | undefined {
  const model = knownModel(id);
  return model && { ...offered(model, false), available: false, ended: true };
}

let drawn: { shown: Shown; models: readonly OfferedModel[] } | undefined;

/** The models before the server has answered: names and prices are known, but not whether a model works, unless it is switched off. */
function drawnModels(): readonly OfferedModel[] {
  const shown = shownModels();
  const tell = (model: KnownModel) => ({ ...offered(model, false), ...(shown.off.includes(model.id) && { available: false, off: {} }) });
  if (drawn?.shown !== shown) drawn = { shown, models: listedModels().map(tell) };
  return drawn.models;
}

/** The first state has a getter, because prerendering draws pages with different lists of models in one process. */
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
  const nowMs = Date.now();
  return models.flatMap(({ id, credits, available, sandbox, until, pausedSeconds, switchedOff, nextPrice = null }) => {
    const model = knownModel(id);
    const retryAtMs = typeof pausedSeconds === "number" ? nowMs + pausedSeconds * 1_000 : null;
    const told = { available, sandbox, until, retryAtMs, off: switchedOff?.texts ?? null, nextPrice };
    // The server's price counts, because this page may be older than the catalogue.
    return model ? [{ ...offered(model, onTrial), credits, ...told }] : [];
  });
}

let nextTry: ReturnType<typeof setTimeout> | undefined;

/** If asking fails while a model is out of order, the list is asked for again after this time. */
const askAgainMs = 10_000;

/** Asks again when the first of the models that are out of order may work again. */
function refreshAfterPause(leastMs: number): void {
  clearTimeout(nextTry);
  const ends = useModels.getState().models.flatMap(({ retryAtMs }) => retryAtMs ?? []);
  if (ends.length === 0) return;
  const waitMs = Math.max(Math.min(...ends) - Date.now(), 0);
  nextTry = setTimeout(() => void refreshModels(), Math.max(waitMs + 1_000, leastMs));
}

export async function refreshModels(): Promise<void> {
  try {
    const list = await api("GET /api/models");
    useModels.setState((state) => ({ status: "ready", models: offeredOf(list, state.onTrial) }));
    refreshAfterPause(0);
  } catch {
    useModels.setState((state) => ({ status: state.status === "ready" ? "ready" : "failed" }));
    refreshAfterPause(askAgainMs);
  }
}
