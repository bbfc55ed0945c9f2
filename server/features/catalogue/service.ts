/**
 * What is offered today, and how it is reached: the shipped facts, the operator's changes and business time. Everything on the server that
 * offers, prices or refuses a model asks here.
 */
import { DomainError } from "#domain/errors.ts";
import type { Model } from "#domain/models.ts";
import { findModel, isBuilt, isOffered, livingModel, modelState, modelsAt } from "#domain/models.ts";
import { quoteCredits } from "#domain/pricing.ts";
import type { ModelList } from "../../contract/catalogue.ts";
import type { Deps } from "../../deps.ts";

type CatalogueDeps = Pick<Deps, "models" | "config" | "clock">;

/** A model by its id, asked under the provider's id that the operator gave it; undefined if we never offered it. */
export function soldModel({ config }: Pick<Deps, "config">, id: string): Model | undefined {
  const model = findModel(id);
  const upstreamModel = model && config.modelChanges.get(model.id)?.upstreamModel;
  return model && upstreamModel !== undefined ? { ...model, upstreamModel } : model;
}

/** Why a model can't be asked any more, or not yet. It names the model that the conversation can go on with, and the price. */
export function findRetirement({ clock }: Pick<Deps, "clock">, model: Model): DomainError | undefined {
  const now = clock.now();
  if (isOffered(model, now)) return undefined;
  const successor = modelState(model, now) === "retired" ? livingModel(model.id, now) : undefined;
  if (!successor) return new DomainError("model_retired", `${model.name} is not offered`);
  const quotedCredits = quoteCredits(successor);
  const message = `${model.name} has ended. ${successor.name} follows it, at ${quotedCredits} credits`;
  return new DomainError("model_retired", message, { successor: successor.id, quotedCredits });
}

/** Whether we can use it, have credentials for its provider and the operator has not switched it off. */
export function isAvailable({ models, config }: Pick<Deps, "models" | "config">, model: Model): boolean {
  return isBuilt(model) && config.modelChanges.get(model.id)?.off !== true && models.isAvailable(model);
}

/** Somebody whose questions have not failed: a model that is paused for them is paused for everybody. */
const nobody = "";

function pauseOf({ models }: Pick<Deps, "models">, model: Model): number | null {
  const waitMs = models.waitMs(model, nobody);
  return waitMs > 0 ? Math.ceil(waitMs / 1_000) : null;
}

/** Today's catalogue, as far as this process can reach it. An end is told from the day of its announcement on. */
export function listModels(deps: CatalogueDeps): ModelList {
  const now = deps.clock.now();
  const models = modelsAt(now).map((model) => {
    const pausedSeconds = pauseOf(deps, model);
    return {
      id: model.id,
      name: model.name,
      provider: model.provider,
      category: model.category,
      credits: model.credits,
      unit: model.unit,
      available: isAvailable(deps, model) && pausedSeconds === null,
      pausedSeconds,
      sandbox: deps.models.isSandboxed(model),
      until: modelState(model, now) === "announced" ? (model.until ?? null) : null,
      successor: model.successor ?? null,
    };
  });
  return { models };
}
