/** What texts say of models. A model that has ended is written as its successor. */
import { currentModel, listedModels, offeredModels } from "#client/lib/offered-models.ts";
import type { KnownModel } from "#client/lib/shown-edition.ts";
import { planList } from "#domain/plans.ts";
import type { Figure, Figures } from "./figure.ts";
import { number } from "./figure.ts";

const ofModel = (figure: (model: KnownModel) => Figure) => (id: string | undefined) => {
  const model = currentModel(id ?? "");
  return model && figure(model);
};
const counted = (models: () => readonly KnownModel[]) => (subject: string | undefined) =>
  subject === undefined ? number(models().length) : undefined;

/** For `starter:gpt-5`: how many answers of that model a month's credits of the plan pay for. */
function requestsPerMonth(subject: string | undefined): Figure | undefined {
  const [key, id, ...rest] = subject?.split(":") ?? [];
  const plan = planList.find((candidate) => candidate.key === key);
  const model = currentModel(id ?? "");
  return plan && model && rest.length === 0 ? number(Math.floor(plan.monthlyCredits / model.credits)) : undefined;
}

export const modelFigures: Figures = {
  cost: ofModel((model) => ({ unit: "credits", credits: model.credits })),
  costOf: ofModel((model) => number(model.credits)),
  model: ofModel((model) => ({ unit: "name", name: model.name })),
  perMonth: requestsPerMonth,
  modelsOf: (provider) => {
    const namesOf = (models: readonly KnownModel[]) => models.filter((model) => model.provider === provider).map(({ name }) => name);
    const [offered, listed] = [namesOf(offeredModels()), namesOf(listedModels())];
    // A provider all of whose models are switched off keeps their names, so that no sentence breaks off.
    return listed.length === 0 ? undefined : { unit: "names", names: offered.length === 0 ? listed : offered };
  },
  modelCount: counted(() => offeredModels()),
};
