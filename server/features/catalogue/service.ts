/**
 * Which models are offered today, at what price, and how they are reached. It follows from the catalogue, the operator's files, the admins'
 * switches and prices, and business time. All code on the server that offers, prices or refuses a model asks here, and so do the pages that name models.
 */
import { DomainError } from "#domain/errors.ts";
import type { Model } from "#domain/models.ts";
import { findModel, isOffered, livingModel, modelState, modelsAt } from "#domain/models.ts";
import { priceVersion, quoteCredits } from "#domain/pricing.ts";
import type { ModelList } from "../../contract/catalogue.ts";
import type { Deps } from "../../deps.ts";

type CatalogueDeps = Pick<Deps, "models" | "config" | "clock" | "switches">;

/** A model by its id, asked under the provider's id that the operator gave it; undefined if we never offered it. */
export function soldModel({ config }: Pick<Deps, "config">, id: string): Model | undefined {
  const model = findModel(id) ?? config.ownModels.find((own) => own.id === id);
  const upstreamModel = model && config.modelChanges.get(model.id)?.upstreamModel;
  return model && upstreamModel !== undefined ? { ...model, upstreamModel } : model;
}

/** Today's price of a unit in credits, and its version: that of the release, or the day on which an admin's price began. */
export function priceOf({ switches, clock }: Pick<Deps, "switches" | "clock">, model: Pick<Model, "id" | "credits">) {
  const today = clock.now().toISOString().slice(0, 10);
  const planned = switches.pricesOf(model.id).findLast(({ beginsOn }) => beginsOn <= today);
  return planned ? { credits: planned.credits, version: planned.beginsOn } : { credits: model.credits, version: priceVersion };
}

/** The model at today's price. */
export function priced<Sold extends Model>(deps: Pick<Deps, "switches" | "clock">, model: Sold): Sold {
  const { credits } = priceOf(deps, model);
  return credits === model.credits ? model : { ...model, credits };
}

/** Empty if no other price is planned. */
function nextPriceOf({ switches, clock }: Pick<Deps, "switches" | "clock">, id: string) {
  const today = clock.now().toISOString().slice(0, 10);
  const next = switches.pricesOf(id).find(({ beginsOn }) => beginsOn > today);
  return next ? { nextPrice: { beginsOn: next.beginsOn, credits: next.credits } } : {};
}

/** Today's prices of offered models, where they differ from those of the release. */
export function changedPrices(deps: Pick<Deps, "config" | "clock" | "switches">): Record<string, number> {
  const changed = (id: string, credits: number) => soldModel(deps, id)?.credits !== credits;
  return Object.fromEntries(offeredModels(deps).flatMap(({ id, credits }) => (changed(id, credits) ? [[id, credits]] : [])));
}

/** What conversations with the model can go on with; the model itself while it is offered; undefined if nothing follows it. */
export function successorOf(deps: Pick<Deps, "config" | "clock" | "switches">, { id }: Pick<Model, "id">): Model | undefined {
  const successor = livingModel((known) => soldModel(deps, known), id, deps.clock.now(), switchedOff(deps));
  return successor && priced(deps, successor);
}

/** Why a model can't be asked any more, or not yet. It names the model that the conversation can go on with, and the price. */
export function findRetirement(deps: Pick<Deps, "config" | "clock" | "switches">, model: Model): DomainError | undefined {
  const now = deps.clock.now();
  if (isOffered(model, now)) return undefined;
  const successor = modelState(model, now) === "retired" ? successorOf(deps, model) : undefined;
  if (!successor) return new DomainError("model_retired", `${model.name} is not offered`);
  const quotedCredits = quoteCredits(successor);
  const message = `${model.name} has ended. ${successor.name} follows it, at ${quotedCredits} credits`;
  return new DomainError("model_retired", message, { successor: successor.id, quotedCredits });
}

/**
 * Who has switched it off, if somebody has. It is then not offered, and texts of public pages name another model instead, if one is like it
 * (decision 86). The operator's file comes first.
 */
export function offBy({ config, switches }: Pick<Deps, "config" | "switches">, id: string): "file" | "admin" | null {
  if (config.modelChanges.get(id)?.off) return "file";
  return switches.find(id)?.off ? "admin" : null;
}

/** The ids of models that would be offered today if nobody had switched them off. */
export function switchedOff(deps: Pick<Deps, "config" | "clock" | "switches">): string[] {
  return offeredModels(deps).flatMap(({ id }) => (offBy(deps, id) === null ? [] : [id]));
}

/** Whether we have credentials for its provider, and nobody has switched it off. */
export function isAvailable(deps: Pick<Deps, "models" | "config" | "switches">, model: Model): boolean {
  return offBy(deps, model.id) === null && deps.models.isAvailable(model);
}

/** Stands for a person whose questions have not failed: a model that is paused for them is paused for everybody. */
export const nobody = "";

/** For how many seconds this process does not ask the model; null if it asks it. */
export function pauseOf({ models }: Pick<Deps, "models">, model: Model): number | null {
  const waitMs = models.waitMs(model, nobody);
  return waitMs > 0 ? Math.ceil(waitMs / 1_000) : null;
}

/** What is offered today, at today's prices: the catalogue, and the operator's own models after it. */
export function offeredModels(deps: Pick<Deps, "config" | "clock" | "switches">): readonly Model[] {
  const now = deps.clock.now();
  return [...modelsAt(now), ...deps.config.ownModels.filter((model) => isOffered(model, now))].map((model) => priced(deps, model));
}

/** The facts of a model that clients may know. */
export function toldModel({ upstreamModel: _id, own, ...model }: Model): Omit<Model, "upstreamModel"> {
  return own ? { ...model, own: { server: own.server, pictures: own.pictures } } : model;
}

/** For people to read. A model that we don't know is called by its id. */
export function modelName(deps: Pick<Deps, "config">, id: string): string {
  return soldModel(deps, id)?.name ?? id;
}

/** Today's catalogue, as far as this process can reach it. An end is told from the day of its announcement on. */
export function listModels(deps: CatalogueDeps): ModelList {
  const now = deps.clock.now();
  const models = offeredModels(deps).map((model) => {
    const pausedSeconds = pauseOf(deps, model);
    const by = offBy(deps, model.id);
    const texts = by === "admin" ? (deps.switches.find(model.id)?.texts ?? {}) : {};
    return {
      id: model.id,
      name: model.name,
      provider: model.own?.server ?? model.provider,
      category: model.category,
      credits: model.credits,
      unit: model.unit,
      available: isAvailable(deps, model) && pausedSeconds === null,
      pausedSeconds,
      sandbox: deps.models.isSandboxed(model),
      until: modelState(model, now) === "announced" ? (model.until ?? null) : null,
      successor: model.successor ?? null,
      ...(by !== null && { switchedOff: { texts } }),
      ...nextPriceOf(deps, model.id),
    };
  });
  return { models };
}
