import { create } from "zustand";
import { api } from "#client/lib/api.ts";
import type { Model, ModelCategory } from "#domain/models.ts";
import { models } from "#domain/models.ts";
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
  sandbox: boolean;
}

interface ModelsState {
  status: "idle" | "ready" | "failed";
  models: readonly OfferedModel[];
}

function offered(model: (typeof models)[number]): OfferedModel {
  const { id, name, provider, category, unit, size, credits } = model;
  return { id, name, provider, category, unit, size, credits, goodFor: goodFor[model.id], available: undefined, sandbox: false };
}

/** We know names and prices without the network, but not which models are available. */
export const useModels = create<ModelsState>(() => ({ status: "idle", models: models.map(offered) }));

export async function refreshModels(): Promise<void> {
  try {
    const list = await api("GET /api/models");
    useModels.setState({
      status: "ready",
      models: models.map((model) => {
        const told = list.models.find(({ id }) => id === model.id);
        // The server's price counts, because this page may be older than the catalogue.
        return {
          ...offered(model),
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
