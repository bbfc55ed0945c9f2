/** Which models the providers serve at the sandbox's time, and how they list them. A model that has ended answers nobody. */
import type { Model, Provider } from "#domain/models.ts";
import { catalogue, startOf } from "#domain/models.ts";

/** Anthropic lists these under their dates alone, and answers to both names. */
const datedNames: Readonly<Record<string, string>> = {
  "claude-sonnet-4-5": "claude-sonnet-4-5-20250929",
  "claude-haiku-4-5": "claude-haiku-4-5-20251001",
};

export function isServed({ until }: Pick<Model, "until">, now: Date): boolean {
  return until === undefined || now < startOf(until);
}

const created = Math.floor(Date.UTC(2025, 0, 1) / 1000);
const listedName = ({ upstreamModel }: Model) => datedNames[upstreamModel] ?? upstreamModel;

/** OpenAI says in its list when a model ends. */
function describe(model: Model) {
  const ends = model.provider === "openai" ? { shutdown_date: model.until ?? null } : {};
  return { id: listedName(model), object: "model", created, owned_by: `sandbox-${model.provider}`, ...ends };
}

/** We sell some models twice; the provider has them once. */
export function listModels(provider: Provider, now: Date) {
  const served = catalogue.filter((model) => model.provider === provider && isServed(model, now));
  return [...new Map(served.map((model) => [model.upstreamModel, describe(model)])).values()];
}

/** Whether a request that names this asks for the model. */
export function isAskedAs(model: Model, name: string): boolean {
  return name === model.upstreamModel || name === listedName(model);
}
