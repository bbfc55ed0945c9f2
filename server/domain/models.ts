/**
 * The only catalogue of models and their prices in credits. `id` is our own and never changes, because receipts contain it;
 * `upstreamModel` is the provider's id and may change.
 */
export const modelCategories = ["text", "image", "audio", "video", "search"] as const;
export type ModelCategory = (typeof modelCategories)[number];

export const providers = ["openai", "anthropic", "google", "mistral", "deepseek", "perplexity", "xai"] as const;
export type Provider = (typeof providers)[number];

/** How a model is called (server/providers/models/). */
export type ModelProtocol = "openai-chat" | "openai-responses" | "anthropic-messages";

/** What one unit of the price counts. */
export type PriceUnit = "answer" | "image" | "minute" | "thousand_characters" | "clip";

export interface Model {
  id: string;
  name: string;
  provider: Provider;
  category: ModelCategory;
  /** Absent from models that can't be called yet. */
  protocol?: ModelProtocol;
  size: "small" | "large" | "none";
  upstreamModel: string;
  credits: number;
  unit: PriceUnit;
  /** Named on the plan cards; the others are summed up as "and 5 more". */
  highlighted: boolean;
  /**
   * The largest number of tokens sent as history and returned as an answer, so that the fixed price always covers the cost.
   * The receipt says how many messages were left out. Zero for models that take no conversation.
   */
  inputTokenLimit: number;
  outputTokenLimit: number;
}

const smallText = {
  category: "text",
  protocol: "openai-chat",
  size: "small",
  credits: 1,
  unit: "answer",
  inputTokenLimit: 6_000,
  outputTokenLimit: 2_000,
} as const;
const largeText = {
  category: "text",
  protocol: "openai-chat",
  size: "large",
  credits: 5,
  unit: "answer",
  inputTokenLimit: 12_000,
  outputTokenLimit: 4_000,
} as const;
const withoutTokens = { size: "none", inputTokenLimit: 0, outputTokenLimit: 0 } as const;

export const models = [
  { id: "gpt-5", name: "GPT-5", provider: "openai", upstreamModel: "gpt-5", highlighted: true, ...largeText, protocol: "openai-responses" },
  { id: "gpt-5-mini", name: "GPT-5 Mini", provider: "openai", upstreamModel: "gpt-5-mini", highlighted: true, ...smallText },
  {
    id: "claude-sonnet-4-5",
    name: "Claude Sonnet 4.5",
    provider: "anthropic",
    upstreamModel: "claude-sonnet-4-5",
    highlighted: true,
    ...largeText,
    protocol: "anthropic-messages",
  },
  {
    id: "claude-haiku-4-5",
    name: "Claude Haiku 4.5",
    provider: "anthropic",
    upstreamModel: "claude-haiku-4-5",
    highlighted: false,
    ...smallText,
    protocol: "anthropic-messages",
  },
  { id: "gemini-2.5-pro", name: "Gemini 2.5 Pro", provider: "google", upstreamModel: "gemini-2.5-pro", highlighted: true, ...largeText },
  {
    id: "gemini-2.5-flash",
    name: "Gemini 2.5 Flash",
    provider: "google",
    upstreamModel: "gemini-2.5-flash",
    highlighted: false,
    ...smallText,
  },
  {
    id: "mistral-large-latest",
    name: "Mistral Large",
    provider: "mistral",
    upstreamModel: "mistral-large-latest",
    highlighted: true,
    ...largeText,
  },
  { id: "deepseek-chat", name: "DeepSeek Chat", provider: "deepseek", upstreamModel: "deepseek-chat", highlighted: false, ...smallText },
  {
    id: "dall-e-3",
    name: "DALL-E 3",
    provider: "openai",
    category: "image",
    upstreamModel: "dall-e-3",
    credits: 10,
    unit: "image",
    highlighted: true,
    ...withoutTokens,
  },
  {
    id: "gpt-image-1",
    name: "GPT Image 1",
    provider: "openai",
    category: "image",
    upstreamModel: "gpt-image-1",
    credits: 12,
    unit: "image",
    highlighted: true,
    ...withoutTokens,
  },
  {
    id: "whisper-1",
    name: "Whisper",
    provider: "openai",
    category: "audio",
    upstreamModel: "whisper-1",
    credits: 2,
    unit: "minute",
    highlighted: true,
    ...withoutTokens,
  },
  {
    id: "gpt-4o-mini-tts",
    name: "GPT-4o Mini TTS",
    provider: "openai",
    category: "audio",
    upstreamModel: "gpt-4o-mini-tts",
    credits: 2,
    unit: "thousand_characters",
    highlighted: false,
    ...withoutTokens,
  },
  {
    id: "sora-2",
    name: "Sora 2",
    provider: "openai",
    category: "video",
    upstreamModel: "sora-2",
    credits: 50,
    unit: "clip",
    highlighted: true,
    ...withoutTokens,
  },
  {
    id: "sonar",
    name: "Sonar",
    provider: "perplexity",
    category: "search",
    protocol: "openai-responses",
    size: "none",
    upstreamModel: "perplexity/sonar",
    credits: 2,
    unit: "answer",
    highlighted: true,
    inputTokenLimit: 6_000,
    outputTokenLimit: 2_000,
  },
  {
    id: "gpt-5-search-api",
    name: "GPT-5 Search",
    provider: "openai",
    category: "search",
    protocol: "openai-chat",
    size: "none",
    upstreamModel: "gpt-5-search-api",
    credits: 5,
    unit: "answer",
    highlighted: false,
    inputTokenLimit: 12_000,
    outputTokenLimit: 4_000,
  },
] as const satisfies readonly Model[];

/**
 * The kinds of model that can be used: those that answer in text. The others take or return files, which the product can't
 * do yet. Whatever says what can be used goes by this list: the API, the tiles, the plan finder, the texts about plans.
 */
const builtCategories: readonly ModelCategory[] = ["text", "search"];

export function isBuilt(model: Pick<Model, "category">): boolean {
  return builtCategories.includes(model.category);
}

/** The free trial's credits pay for small text models only. */
export function isInTrial(model: Pick<Model, "size">): boolean {
  return model.size === "small";
}

export const laterCategories = modelCategories.filter((category) => !builtCategories.includes(category));

export function findModel(id: string): Model | undefined {
  return models.find((model) => model.id === id);
}
