/** The models as the team sees them: the facts of catalogue/service.ts, and how they answer. All are in memory, so there are no pages. */
import { DomainError } from "#domain/errors.ts";
import type { Model } from "#domain/models.ts";
import { catalogue, modelState } from "#domain/models.ts";
import { leastCredits } from "#domain/provider-prices.ts";
import type { AdminModel, DropPrice, ModelsQuery, PlanPrice, PricePreview, SwitchModel } from "../../contract/admin/models.ts";
import type { Deps } from "../../deps.ts";
import { offBy, pauseOf, priceOf, soldModel } from "../catalogue/service.ts";
import { dropPrice, planPrice, switchModel } from "../catalogue/switches.ts";
import { readModelAnswers, readModelUse } from "../figures/service.ts";
import { listOpenSubjects } from "../findings/service.ts";
import type { Clerk } from "../team/service.ts";

type ModelDeps = Pick<Deps, "db" | "config" | "clock" | "models" | "switches" | "live" | "log">;

const none = { answers: 0, failed: 0 };

function stateOf(deps: ModelDeps, model: Model): AdminModel["state"] {
  const life = modelState(model, deps.clock.now());
  if (life === "planned" || life === "retired") return life;
  if (offBy(deps, model.id) !== null) return "off";
  if (!deps.models.isAvailable(model)) return "unreachable";
  return pauseOf(deps, model) === null ? life : "paused";
}

function pricesOf(deps: ModelDeps, model: Model): AdminModel["prices"] {
  const planned = deps.switches.pricesOf(model.id).map(({ beginsOn, credits }) => ({ beginsOn, credits }));
  const all = [{ beginsOn: null, credits: model.credits }, ...planned];
  const today = deps.clock.now().toISOString().slice(0, 10);
  const current = all.findLastIndex(({ beginsOn }) => (beginsOn ?? "") <= today);
  return all.map((price, index) => ({ ...price, state: index < current ? "over" : index === current ? "now" : "planned" }));
}

async function readAll(deps: ModelDeps): Promise<AdminModel[]> {
  const [answers, findings] = await Promise.all([readModelAnswers(deps), listOpenSubjects(deps.db, ["model_gone", "model_ending"])]);
  const ids = [...catalogue, ...deps.config.ownModels].map(({ id }) => id);
  return ids.flatMap((id) => {
    const model = soldModel(deps, id);
    if (!model) return [];
    const known = deps.switches.find(id);
    const price = priceOf(deps, model);
    return {
      id,
      name: model.name,
      provider: model.own?.server ?? model.provider,
      category: model.category,
      state: stateOf(deps, model),
      upstreamModel: model.upstreamModel,
      from: model.from,
      until: model.until ?? null,
      successor: model.successor ?? null,
      credits: price.credits,
      unit: model.unit,
      priceVersion: price.version,
      prices: pricesOf(deps, model),
      leastCredits: leastCredits(model),
      offBy: offBy(deps, id),
      texts: known?.texts ?? {},
      version: known?.version ?? 0,
      switchedAt: known?.changedAt.toISOString() ?? null,
      pausedSeconds: pauseOf(deps, model),
      sandbox: deps.models.isSandboxed(model),
      today: answers.today.get(id) ?? none,
      lastHour: answers.lastHour.get(id) ?? none,
      finding: findings.get(id) ?? null,
    };
  });
}

const orders = {
  failed: (one: AdminModel, other: AdminModel) => other.today.failed - one.today.failed,
  answers: (one: AdminModel, other: AdminModel) => other.today.answers - one.today.answers,
  name: (one: AdminModel, other: AdminModel) => other.name.localeCompare(one.name, "en"),
};

/** The models that match the filters, in the catalogue's order, which has retired ones last, or in the order asked for. */
export async function listAdminModels(deps: ModelDeps, { sort = "order", order = "desc", ...filter }: ModelsQuery): Promise<AdminModel[]> {
  const { state, category, provider } = filter;
  const rows = (await readAll(deps)).filter(
    (model) =>
      (state === undefined || model.state === state) &&
      (category === undefined || model.category === category) &&
      (provider === undefined || model.provider === provider),
  );
  if (sort === "order") return rows;
  const sorted = rows.toSorted(orders[sort]);
  return order === "desc" ? sorted : sorted.reverse();
}

function modelOf(deps: ModelDeps, modelId: string): Model {
  const model = soldModel(deps, modelId);
  if (!model) throw new DomainError("not_found", "There is no such model");
  return model;
}

async function readOne(deps: ModelDeps, { id }: Model): Promise<AdminModel> {
  const model = (await readAll(deps)).find((each) => each.id === id);
  if (!model) throw new Error(`${id} is no model any more`);
  return model;
}

/** Throws `not_found`, `conflict`. */
export async function switchModelAs(deps: ModelDeps, clerk: Clerk, modelId: string, change: SwitchModel): Promise<AdminModel> {
  const model = modelOf(deps, modelId);
  const said = Object.entries(change.texts).flatMap(([language, text]) => (text.trim() === "" ? [] : [[language, text.trim()] as const]));
  await switchModel(deps, clerk, { ...change, modelId, texts: Object.fromEntries(said) });
  return readOne(deps, model);
}

const previewDays = 30;

/** What the model's answers of the last days would have cost at another price. Assumes that all of them were charged at today's price. */
export async function previewPrice(deps: ModelDeps, modelId: string, credits: number): Promise<PricePreview> {
  const model = modelOf(deps, modelId);
  const use = await readModelUse(deps, modelId, previewDays);
  return { days: previewDays, ...use, creditsThen: Math.round((use.credits * credits) / priceOf(deps, model).credits) };
}

/** Throws `not_found`, `conflict`, `price_below_cost`. */
export async function planPriceAs(deps: ModelDeps, clerk: Clerk, modelId: string, planned: PlanPrice): Promise<AdminModel> {
  const model = modelOf(deps, modelId);
  const least = leastCredits(model);
  if (planned.credits < least)
    throw new DomainError("price_below_cost", `${model.name} can't be sold for less than ${least} credits`, { least });
  await planPrice(deps, clerk, { modelId, ...planned });
  return readOne(deps, model);
}

/** Throws `not_found`, `conflict`. */
export async function dropPriceAs(deps: ModelDeps, clerk: Clerk, modelId: string, dropped: DropPrice): Promise<AdminModel> {
  const model = modelOf(deps, modelId);
  await dropPrice(deps, clerk, { modelId, ...dropped });
  return readOne(deps, model);
}
