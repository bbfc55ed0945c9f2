/**
 * What the providers take, in micro-dollars (millionths of a US dollar), from their public price lists. It is apart from the catalogue
 * because the client has no use for it.
 */
import type { Model, models } from "./models.ts";

type AnsweringModelId = Extract<(typeof models)[number], { category: "text" | "search" }>["id"];

interface ProviderPrice {
  /** For a million tokens. */
  inputMicroDollars: number;
  outputMicroDollars: number;
  /** For each request, beside its tokens: what a search costs. */
  requestMicroDollars: number;
}

const perMillionTokens = (inputDollars: number, outputDollars: number, requestMicroDollars = 0): ProviderPrice => ({
  inputMicroDollars: Math.round(inputDollars * 1e6),
  outputMicroDollars: Math.round(outputDollars * 1e6),
  requestMicroDollars,
});

const prices: Readonly<Record<AnsweringModelId, ProviderPrice>> = {
  "gpt-5": perMillionTokens(1.25, 10),
  "gpt-5-mini": perMillionTokens(0.25, 2),
  "claude-sonnet-4-5": perMillionTokens(3, 15),
  "claude-haiku-4-5": perMillionTokens(1, 5),
  "gemini-2.5-pro": perMillionTokens(1.25, 10),
  "gemini-2.5-flash": perMillionTokens(0.3, 2.5),
  "mistral-large-latest": perMillionTokens(0.5, 1.5),
  "deepseek-chat": perMillionTokens(0.28, 0.42),
  sonar: perMillionTokens(1, 1, 12_000),
  "gpt-5-search-api": perMillionTokens(1.25, 10, 10_000),
};

/** What an answer costs us, rounded up to a whole micro-dollar; null where its provider did not say how many tokens it took. */
export function providerCostMicroDollars(
  model: Pick<Model, "id">,
  usage: { promptTokens: number | null; completionTokens: number | null },
): number | null {
  const price = (prices as Readonly<Record<string, ProviderPrice>>)[model.id];
  if (!price || usage.promptTokens === null || usage.completionTokens === null) return null;
  const tokens = usage.promptTokens * price.inputMicroDollars + usage.completionTokens * price.outputMicroDollars;
  return Math.ceil(tokens / 1e6) + price.requestMicroDollars;
}
