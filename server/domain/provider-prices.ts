/**
 * What the providers take, in micro-dollars (millionths of a US dollar), from their public price lists as of `catalogueAsOf`. It is apart from
 * the catalogue because the client has no use for it.
 */
import { parametersOf } from "./model-parameters.ts";
import type { Model, ModelId } from "./models.ts";
import { pictureLimits, picturePromptTokens } from "./pictures.ts";
import { annualPriceCents, packs, planList } from "./plans.ts";

/** A request with more input tokens than this costs so many times as much, and not only for the tokens above. */
interface PriceStep {
  aboveTokens: number;
  inputFactor: number;
  outputFactor: number;
}

interface ProviderPrice {
  /** The first day, in UTC, on which it holds; the first price of a model holds from the beginning. */
  from: string;
  /** For a million tokens. Providers count what a model thinks as output. */
  inputMicroDollars: number;
  outputMicroDollars: number;
  /** For a million tokens of pictures that go in; absent where they cost what text costs. */
  pictureInputMicroDollars?: number;
  above?: PriceStep;
  /** For each unit of a model that is not priced by tokens. */
  requestMicroDollars: number;
  /** For each search of the web, beside the tokens. */
  searchMicroDollars: number;
  /** At certain hours its tokens cost this many times as much. */
  peakFactor: number;
}

const always = "";

function tokens(inputDollars: number, outputDollars: number, more: Partial<ProviderPrice> = {}): ProviderPrice {
  const [inputMicroDollars, outputMicroDollars] = [Math.round(inputDollars * 1e6), Math.round(outputDollars * 1e6)];
  return { from: always, inputMicroDollars, outputMicroDollars, requestMicroDollars: 0, searchMicroDollars: 0, peakFactor: 1, ...more };
}

/** Text and pictures in, pictures out. */
function pictures(inputDollars: number, pictureInputDollars: number, outputDollars: number): ProviderPrice {
  return tokens(inputDollars, outputDollars, { pictureInputMicroDollars: Math.round(pictureInputDollars * 1e6) });
}

const above = (aboveTokens: number, inputFactor: number, outputFactor: number) => ({ above: { aboveTokens, inputFactor, outputFactor } });
/** OpenAI's GPT-6 has this. */
const long = above(272_000, 2, 1.5);

/** Providers cut a picture that goes in into at most this many tokens. */
const referenceTokens = 1_536;

/** The dearest unit that we would ask for: an image, a minute, a thousand characters, a clip. */
function unit(dollars: number): ProviderPrice {
  return tokens(0, 0, { requestMicroDollars: Math.round(dollars * 1e6) });
}

const prices: Readonly<Record<ModelId, readonly [ProviderPrice, ...ProviderPrice[]]>> = {
  "gpt-6.1-sol": [tokens(2, 10, long)],
  "gpt-6-luna": [tokens(0.1, 0.5, long)],
  "claude-sonnet-5-5": [tokens(2, 10)],
  "claude-haiku-5-5": [tokens(0.1, 0.5, above(100_000, 5, 5))],
  "gemini-3.8-flash": [tokens(0.75, 3.75), tokens(1.5, 7.5, { from: "2027-01-01" })],
  "gemini-3.5-flash-lite": [tokens(0.3, 2.5)],
  "mistral-medium-3-5": [tokens(1.5, 7.5)],
  "mistral-small-2603": [tokens(0.15, 0.6)],
  "gpt-6.1-terra": [tokens(1, 5, long)],
  "grok-4.6": [tokens(2, 6, above(200_000, 2, 2))],
  "deepseek-flash": [tokens(0.15, 0.6, { peakFactor: 2 })],
  "claude-haiku-4-5": [tokens(1, 5)],
  "gpt-image-2.6-flare": [pictures(5, 8, 30)],
  "gpt-image-2.6-sunburst": [pictures(5, 8, 30)],
  "gpt-transcribe": [unit(0.0045)],
  "voxtral-small-transcribe-3-0": [unit(0.004)],
  "voxtral-mini-tts-3-0": [unit(0.013)],
  // Eight seconds of 720p at 0.14 dollars, and a picture to begin with.
  "grok-imagine-video-1.5": [unit(1.13)],
  sonar: [tokens(0.25, 2.5, { searchMicroDollars: 5_000 })],
  "gpt-6.1-terra-search": [tokens(1, 5, { ...long, searchMicroDollars: 10_000 })],
  "gpt-5": [tokens(1.25, 10)],
  "gpt-5-mini": [tokens(0.25, 2)],
  "claude-sonnet-4-5": [tokens(3, 15)],
  "gemini-2.5-pro": [tokens(1.25, 10)],
  "gemini-2.5-flash": [tokens(0.3, 2.5)],
  "gpt-5-search-api": [tokens(1.25, 10, { searchMicroDollars: 10_000 })],
  "gpt-4o-mini-tts": [unit(0.015)],
  "whisper-1": [unit(0.006)],
  "mistral-large-latest": [tokens(0.5, 1.5)],
  "deepseek-chat": [tokens(0.28, 0.42)],
  "dall-e-3": [unit(0.12)],
  "gpt-image-1": [unit(0.25)],
  "sora-2": [unit(1)],
};

/** Empty for a model without known prices. */
function pricesOf({ id, own }: Pick<Model, "id" | "own">): readonly ProviderPrice[] {
  if (own) return own.price ? [{ from: always, ...own.price, searchMicroDollars: 0, peakFactor: 1 }] : [];
  return (prices as Readonly<Record<string, readonly ProviderPrice[]>>)[id] ?? [];
}

/** The tokens and what else the request costs, rounded up to a whole micro-dollar. `pictureTokens` are part of `inputTokens`. */
function costOf(price: ProviderPrice, inputTokens: number, outputTokens: number, searches: number, pictureTokens = 0): number {
  const { inputMicroDollars, pictureInputMicroDollars = inputMicroDollars, above: step } = price;
  const { inputFactor, outputFactor } = step && inputTokens > step.aboveTokens ? step : { inputFactor: 1, outputFactor: 1 };
  const inputCost = (inputTokens - pictureTokens) * inputMicroDollars + pictureTokens * pictureInputMicroDollars;
  const tokenCost = inputCost * inputFactor + outputTokens * price.outputMicroDollars * outputFactor;
  return Math.ceil(tokenCost / 1e6) + Math.ceil(price.requestMicroDollars) + searches * price.searchMicroDollars;
}

/**
 * What an answer of this day costs us, outside peak hours; null where its provider did not say how many tokens it took.
 */
export function providerCostMicroDollars(
  model: Pick<Model, "id" | "own">,
  usage: {
    promptTokens: number | null;
    completionTokens: number | null;
    searches: number | null;
    /** How many of the prompt's tokens are for pictures. */
    pictureTokens?: number | null;
  },
  now: Date,
): number | null {
  const day = now.toISOString().slice(0, 10);
  const price = pricesOf(model).findLast(({ from }) => from <= day);
  if (!price || usage.promptTokens === null || usage.completionTokens === null) return null;
  // All that it may make, if its provider does not say.
  const searches = usage.searches ?? parametersOf(model).searches ?? 0;
  return costOf(price, usage.promptTokens, usage.completionTokens, searches, usage.pictureTokens ?? 0);
}

/** What these units, such as minutes or thousands of characters, cost us on this day, for a model that is not priced by tokens. */
export function unitCostMicroDollars(model: Pick<Model, "id" | "own">, units: number, now: Date): number | null {
  const day = now.toISOString().slice(0, 10);
  const price = pricesOf(model).findLast(({ from }) => from <= day);
  return price ? Math.ceil(price.requestMicroDollars * units) : null;
}

/**
 * The most input that a provider counts. A model that searches is asked once more after each search: it reads the conversation again each
 * time, with all that was found and written before.
 */
function countedInput(model: Model, inputTokens: number): number {
  const { searches = 0, foundTokens = 0 } = parametersOf(model);
  const found = (foundTokens * searches * (searches + 1)) / 2;
  return inputTokens * (searches + 1) + found + model.outputTokenLimit * searches;
}

/**
 * The most that one unit can cost us at any price that we know of: `inputTokens` of text in, and the model's longest answer out; of a picture,
 * with as many references as a request may have.
 */
export function worstCostMicroDollars(model: Model, inputTokens: number): number {
  const pictureTokens = model.unit === "image" ? pictureLimits.references * referenceTokens : 0;
  const { searches = 0 } = parametersOf(model);
  const counted = countedInput(model, inputTokens) + pictureTokens;
  return Math.max(
    ...pricesOf(model).map((price) => {
      const beside = price.requestMicroDollars + searches * price.searchMicroDollars;
      return (costOf(price, counted, model.outputTokenLimit, searches, pictureTokens) - beside) * price.peakFactor + beside;
    }),
  );
}

/** The least that a credit sells for, in dollars: campaigns and the trial excepted. */
const leastDollars = Math.min(
  ...packs.map(({ priceCents, credits }) => priceCents / credits / 100),
  ...planList.map((plan) => annualPriceCents(plan) / (12 * plan.monthlyCredits) / 100),
);

/** What a unit may cost us at most for each of its credits: half, less five percent, of what the credit sells for. */
export const creditCapMicroDollars = (leastDollars * 1e6 * 0.95) / 2;

/** The most tokens of text, as we count them, that the model gets. */
export function longestInputTokens({ unit, inputTokenLimit }: Model): number {
  return unit === "image" ? picturePromptTokens : inputTokenLimit;
}

/** The least that a unit may be sold for, in credits. */
export function leastCredits(model: Model): number {
  return Math.max(1, Math.ceil(worstUnitMicroDollars(model) / creditCapMicroDollars));
}

/** What the dearest answer of the model can cost us, or its dearest picture, minute, thousand characters or clip. */
export function worstUnitMicroDollars(model: Model): number {
  return worstCostMicroDollars(model, longestInputTokens(model));
}
