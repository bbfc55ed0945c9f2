/** What the catalogue of models promises on every day of the year that it was made for. Nothing here depends on the real date. */
import { describe, expect, it } from "vitest";
import { addMilliseconds, addMonths, dayMs } from "#domain/clock.ts";
import { catalogueEditions } from "#domain/editions.ts";
import type { CatalogueModel } from "#domain/models.ts";
import { catalogue, catalogueAsOf, findModel, livingModel, modelCategories, modelState, modelsAt, startOf } from "#domain/models.ts";
import { annualPriceCents, packs, planList } from "#domain/plans.ts";
import { creditCapMicroDollars, longestInputTokens, worstCostMicroDollars, worstUnitMicroDollars } from "#domain/provider-prices.ts";
import { mostTokensPerCounted } from "#domain/tokens.ts";

const begin = startOf(catalogueAsOf);
const end = addMonths(begin, 12);
const days: Date[] = [];
for (let day = begin; day <= end; day = addMilliseconds(day, dayMs)) days.push(day);
const offeredThen = catalogue.filter(({ until }) => until === undefined || startOf(until) > begin);

describe("for twelve months from its date the catalogue", () => {
  it("has at least fifteen models, one of every kind, and a small and a large text model that can be used", () => {
    for (const day of days) {
      const models = modelsAt(day);
      const at = day.toISOString();
      expect(models.length, at).toBeGreaterThanOrEqual(15);
      expect(new Set(models.map(({ category }) => category)), at).toEqual(new Set(modelCategories));
      expect(
        models.filter(({ protocol }) => !protocol),
        at,
      ).toEqual([]);
      expect(new Set(models.map(({ size }) => size)), at).toEqual(new Set(["small", "large", "none"]));
    }
  });

  it("names the same ten models on the plan cards", () => {
    const named = (day: Date) => modelsAt(day).filter(({ highlighted }) => highlighted === true);
    for (const day of days) expect(named(day)).toEqual(named(begin));
    expect(named(begin)).toHaveLength(10);
  });
});

describe("a model", () => {
  it("has an id of its own, and an end after its beginning", () => {
    expect(new Set(catalogue.map(({ id }) => id)).size).toBe(catalogue.length);
    for (const { id, from, until } of catalogue) expect(until === undefined || startOf(until) > startOf(from), id).toBe(true);
  });

  it("that ends has a successor in its own price class and kind, which lives", () => {
    for (const model of catalogue.filter(({ until }) => until !== undefined)) {
      const priceOf = ({ category, credits, unit, size }: CatalogueModel) => [category, credits, unit, size];
      const successor = livingModel(findModel, model.id, end);
      expect(successor && priceOf(successor), model.id).toEqual(priceOf(model));
      expect(successor?.id).not.toBe(model.id);
      const day = startOf(model.until ?? "");
      if (day > begin) expect(livingModel(findModel, model.id, day), model.id).toBeDefined();
    }
  });

  it("is offered until its day, announced thirty days ahead, and never offered from that day on", () => {
    const gpt5 = findModel("gpt-5") as CatalogueModel;
    const states = ["2025-10-31", "2026-11-10", "2026-11-11", "2026-12-10", "2026-12-11", "2030-01-01"];
    expect(states.map((day) => modelState(gpt5, startOf(day)))).toEqual([
      ...["planned", "offered", "announced", "announced", "retired", "retired"],
    ]);
    expect(modelState(gpt5, new Date("2026-12-10T23:59:59.999Z"))).toBe("announced");
    expect(livingModel(findModel, "gpt-5", startOf("2026-12-10"))?.id).toBe("gpt-5");
    expect(livingModel(findModel, "gpt-5", startOf("2026-12-11"))?.id).toBe("gpt-6.1-sol");
    expect(livingModel(findModel, "gpt-5-mini", startOf("2026-12-11"))?.id).toBe("gpt-6-luna");
    expect(livingModel(findModel, "a-model-of-others", begin)).toBeUndefined();
  });

  it("that has ended keeps its name for good", () => {
    const before = ["dall-e-3", "gpt-image-1", "sora-2", "deepseek-chat", "mistral-large-latest"];
    expect(before.map((id) => findModel(id)?.name)).toEqual(["DALL-E 3", "GPT Image 1", "Sora 2", "DeepSeek Chat", "Mistral Large"]);
    for (const id of before) expect(modelsAt(begin)).not.toContainEqual(expect.objectContaining({ id }));
  });
});

it("the editions are the days on which what is offered changes", () => {
  const changes = days.filter((day) => {
    const before = modelsAt(addMilliseconds(day, -1)).map(({ id }) => id);
    return (
      day > begin &&
      modelsAt(day)
        .map(({ id }) => id)
        .join() !== before.join()
    );
  });
  expect([catalogueAsOf, ...changes.map((day) => day.toISOString().slice(0, 10))]).toEqual(catalogueEditions);
});

describe("what a model costs us at worst", () => {
  /** The least that a credit sells for, in dollars: campaigns and the trial excepted. */
  const sold = [
    ...packs.map(({ priceCents, credits }) => priceCents / credits),
    ...planList.map((plan) => annualPriceCents(plan) / (12 * plan.monthlyCredits)),
    ...planList.map((plan) => plan.monthlyPriceCents / plan.monthlyCredits),
  ];
  const leastMicroDollars = Math.min(...sold) * 1e4;
  const capMicroDollars = (leastMicroDollars * 0.95) / 2;

  it("is at most half, less five percent, of what its credits sell for, at every price that its provider has announced", () => {
    expect(capMicroDollars / 1e6).toBeCloseTo(0.0253, 4);
    // What the operator's own models are held to.
    expect(creditCapMicroDollars).toBeCloseTo(capMicroDollars, 6);
    for (const model of offeredThen) {
      const worst = worstCostMicroDollars(model, longestInputTokens(model));
      expect(worst, model.id).toBeGreaterThan(0);
      expect(worstUnitMicroDollars(model), model.id).toBe(worst);
      expect(worst / model.credits, model.id).toBeLessThanOrEqual(capMicroDollars);
    }
  });

  it("is never more than what its credits sell for, even if every byte of what it reads is a token", () => {
    for (const model of offeredThen) {
      const worst = worstCostMicroDollars(model, longestInputTokens(model) * mostTokensPerCounted);
      expect(worst / model.credits, model.id).toBeLessThanOrEqual(leastMicroDollars);
    }
  });

  it("includes the steps of a price, and what a model that searches reads again in each round, with all that it found", () => {
    const worstOf = (id: string, inputTokens: number, limits: Partial<CatalogueModel> = {}) =>
      worstCostMicroDollars({ ...(findModel(id) as CatalogueModel), ...limits }, inputTokens);
    expect(worstOf("claude-haiku-5-5", 100_000, { outputTokenLimit: 10_000 })).toBe(10_000 + 5_000);
    // One token more, and all of it costs five times as much.
    expect(worstOf("claude-haiku-5-5", 100_001, { outputTokenLimit: 10_000 })).toBe(50_001 + 25_000);
    expect(worstOf("gpt-6.1-sol", 300_000, { outputTokenLimit: 1_000 })).toBe(1_200_000 + 15_000);
    // Four rounds; three searches, whose 2,000 tokens are read three times, twice and once; and the answer so far.
    const input = 4 * 10_000 + 6 * 2_000 + 3 * 1_000;
    expect(worstOf("sonar", 10_000, { outputTokenLimit: 1_000 })).toBe(input / 4 + 2_500 + 15_000);
  });
});
