import { create } from "zustand";
import { api } from "#client/lib/api.ts";
import type { Model, ModelCategory } from "#domain/models.ts";
import { isInTrial, models } from "#domain/models.ts";
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
  /** The person is on the free trial, which doesn't cover this model. */
  needsPlan: boolean;
  sandbox: boolean;
}

interface ModelsState {
  status: "idle" | "ready" | "failed";
  models: readonly OfferedModel[];
  onTrial: boolean;
}

function offered(model: (typeof models)[number], onTrial: boolean): OfferedModel {
  const { id, name, provider, category, unit, size, credits } = model;
  const needsPlan = onTrial && !isInTrial(model);
  return { id, name, provider, category, unit, size, credits, goodFor: goodFor[id], available: undefined, needsPlan, sandbox: false };
}

/** We know names and prices without the network, but not which models are available. */
export const useModels = create<ModelsState>(() => ({
  status: "idle",
  models: models.map((model) => offered(model, false)),
  onTrial: false,
}));

/** Marks the models that the free trial does not cover while the person is on it. */
export function noteTrial(onTrial: boolean): void {
  useModels.setState((state) => ({
    onTrial,
    models: state.models.map((model) => ({ ...model, needsPlan: onTrial && !isInTrial(model) })),
  }));
}

export async function refreshModels(): Promise<void> {
  try {
    const list = await api("GET /api/models");
    useModels.setState({
      status: "ready",
      models: models.map((model) => {
        const told = list.models.find(({ id }) => id === model.id);
        // The server's price counts, because this page may be older than the catalogue.
        return {
          ...offered(model, useModels.getState().onTrial),
          credits: told?.credits ?? model.credits,
          available: told?.available === true,
          sandbox: told?.sandbox ?? false,
        };
      }),
    });
  } catch {
    useModels.setState((state) => ({ status: state.status === "ready" ? "ready" : "failed" }));
  }
}
