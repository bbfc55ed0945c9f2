/**
 * The only catalogue of models, their lives and their prices in credits. `id` is our own, never changes and is never used for another
 * model, because receipts contain it; `upstreamModel` is the provider's id and may change. What has ended stays here for good, so that
 * receipts, history and conversations keep its name.
 */
import { addMilliseconds, dayMs } from "./clock.ts";

export const modelCategories = ["text", "image", "audio", "video", "search"] as const;
export type ModelCategory = (typeof modelCategories)[number];

export const providers = ["openai", "anthropic", "google", "mistral", "deepseek", "perplexity", "xai"] as const;
export type Provider = (typeof providers)[number];
/** A server of the operator's, by its name in the operator's file (server/own-models.ts). */
export type OwnProvider = `own:${string}`;

/** Clips are made by jobs at the provider; everything else answers a call. */
export type ClipProtocol = "xai-videos";
/** How a model is called (server/providers/models/). */
export type ModelProtocol =
  | "openai-chat"
  | "openai-responses"
  | "openai-images"
  | "openai-transcriptions"
  | "openai-speech"
  | "anthropic-messages"
  | "mistral-transcriptions"
  | "mistral-speech"
  | ClipProtocol;

/** What one unit of the price counts. */
export type PriceUnit = "answer" | "image" | "minute" | "thousand_characters" | "clip";

/** Facts of a model that the operator added. Those of the catalogue's models are found by their ids. */
export interface OwnFacts {
  /** What its server is called. */
  server: string;
  pictures: boolean;
  /** What it costs the operator, for a million tokens and for each unit. Clients are not told. */
  price?: { inputMicroDollars: number; outputMicroDollars: number; requestMicroDollars: number };
}

export interface Model {
  id: string;
  name: string;
  provider: Provider | OwnProvider;
  category: ModelCategory;
  /** Absent only from models that ended before this catalogue. */
  protocol?: ModelProtocol;
  size: "small" | "large" | "none";
  upstreamModel: string;
  credits: number;
  unit: PriceUnit;
  /** Named on the plan cards; the others are summed up as "and 5 more". Only models without a known end are named. */
  highlighted?: boolean;
  /**
   * The largest number of tokens sent, as tokens.ts counts them, and returned as an answer, what the model thinks included, so that the fixed
   * price always covers the cost (provider-prices.ts). The receipt says how many messages were left out. Models that take no conversation have
   * no limit on the input; of a model that makes pictures, the output is the tokens of one picture.
   */
  inputTokenLimit: number;
  outputTokenLimit: number;
  /** The first day, in UTC, on which we offer it. */
  from: string;
  /** The day, in UTC, on which its provider ends it, once that is published. From then on it is not offered. */
  until?: string;
  /** The product that conversations can go on with: in the catalogue one of the same price class. */
  successor?: string;
  /** Present if the operator added the model. */
  own?: OwnFacts;
}

/** The day on which the facts below, and those of provider-prices.ts, were last looked up. */
export const catalogueAsOf = "2026-11-22";

type Facts = Partial<Omit<Model, "id" | "name" | "provider" | "own">> & Pick<Model, "from">;

/** Rows of one kind. The provider's id is ours, and the protocol of text is chat completions, unless a row says otherwise. */
function kind(common: Pick<Model, "category" | "unit" | "credits"> & Partial<Pick<Model, "protocol" | "size">>) {
  return <const Id extends string>(id: Id, name: string, provider: Provider, facts: Facts): Model & { id: Id; provider: Provider } => ({
    ...{ id, name, provider, upstreamModel: id, size: "none", inputTokenLimit: 0, outputTokenLimit: 0 },
    ...common,
    ...facts,
  });
}

const small = kind({ category: "text", protocol: "openai-chat", unit: "answer", size: "small", credits: 1 });
const large = kind({ category: "text", protocol: "openai-chat", unit: "answer", size: "large", credits: 5 });
const image = kind({ category: "image", protocol: "openai-images", unit: "image", credits: 10 });
const transcript = kind({ category: "audio", protocol: "openai-transcriptions", unit: "minute", credits: 2 });
const speech = kind({ category: "audio", protocol: "openai-speech", unit: "thousand_characters", credits: 2 });
const video = kind({ category: "video", unit: "clip", credits: 50 });
const search = kind({ category: "search", unit: "answer", credits: 2 });

const responses = { protocol: "openai-responses" } as const;
const messages = { protocol: "anthropic-messages" } as const;
const tokens = (inputTokenLimit: number, outputTokenLimit: number) => ({ inputTokenLimit, outputTokenLimit });
const from = catalogueAsOf;
const highlighted = true;
/** The dearest picture that we ask for (pictures.ts): 1536x1024 in high quality, and its previews. */
const picture = tokens(0, 3_000);
/** The first catalogue, with the token limits that its models keep. */
const first = { from: "2025-11-01" };
const firstSmall = { ...first, ...tokens(15_100, 2_000) };
const firstLarge = { ...first, ...tokens(20_000, 4_000) };

const rows = [
  // What is offered, without a known end.
  large("gpt-6.1-sol", "GPT-6.1 Sol", "openai", { ...responses, from, highlighted, ...tokens(22_000, 8_000) }),
  small("gpt-6-luna", "GPT-6 Luna", "openai", { ...responses, from, highlighted, ...tokens(130_000, 8_000) }),
  large("claude-sonnet-5-5", "Claude Sonnet 5.5", "anthropic", { ...messages, from, highlighted, ...tokens(22_000, 8_000) }),
  small("claude-haiku-5-5", "Claude Haiku 5.5", "anthropic", { ...messages, from, ...tokens(48_000, 16_000) }),
  large("gemini-3.8-flash", "Gemini 3.8 Flash", "google", { from, highlighted, ...tokens(30_000, 10_000) }),
  small("gemini-3.5-flash-lite", "Gemini 3.5 Flash-Lite", "google", { from, ...tokens(16_000, 8_000) }),
  large("mistral-medium-3-5", "Mistral Medium 3.5", "mistral", { from, highlighted, ...tokens(30_000, 10_000) }),
  small("mistral-small-2603", "Mistral Small 4", "mistral", { from, ...tokens(64_000, 16_000) }),
  large("gpt-6.1-terra", "GPT-6.1 Terra", "openai", { ...responses, from, ...tokens(50_000, 15_000) }),
  large("grok-4.6", "Grok 4.6", "xai", { from, ...tokens(32_000, 10_000) }),
  small("deepseek-flash", "DeepSeek Flash", "deepseek", { from, ...tokens(40_000, 10_000) }),
  small("claude-haiku-4-5", "Claude Haiku 4.5", "anthropic", { ...messages, ...firstSmall, successor: "claude-haiku-5-5" }),
  image("gpt-image-2.6-flare", "GPT Image 2.6 Flare", "openai", { from, highlighted, ...picture }),
  image("gpt-image-2.6-sunburst", "GPT Image 2.6 Sunburst", "openai", { from, highlighted, credits: 12, ...picture }),
  transcript("gpt-transcribe", "GPT Transcribe", "openai", { from, highlighted }),
  transcript("voxtral-small-transcribe-3-0", "Voxtral Transcribe 3", "mistral", { from, protocol: "mistral-transcriptions" }),
  speech("voxtral-mini-tts-3-0", "Voxtral Speech 3", "mistral", { from, protocol: "mistral-speech" }),
  video("grok-imagine-video-1.5", "Grok Video 1.5", "xai", { protocol: "xai-videos", from, highlighted }),
  search("sonar", "Sonar", "perplexity", {
    ...{ ...first, ...responses, upstreamModel: "perplexity/sonar", highlighted },
    ...tokens(16_000, 5_000),
  }),
  search("gpt-6.1-terra-search", "GPT-6.1 Terra Search", "openai", {
    ...{ from, ...responses, upstreamModel: "gpt-6.1-terra", credits: 5 },
    ...tokens(15_500, 5_000),
  }),

  // What its provider ends.
  large("gpt-5", "GPT-5", "openai", { ...responses, ...firstLarge, until: "2026-12-11", successor: "gpt-6.1-sol" }),
  small("gpt-5-mini", "GPT-5 Mini", "openai", { ...firstSmall, until: "2026-12-11", successor: "gpt-6-luna" }),
  large("claude-sonnet-4-5", "Claude Sonnet 4.5", "anthropic", {
    ...messages,
    ...firstLarge,
    until: "2026-11-30",
    successor: "claude-sonnet-5-5",
  }),
  large("gemini-2.5-pro", "Gemini 2.5 Pro", "google", { ...firstLarge, until: "2026-12-01", successor: "gemini-3.8-flash" }),
  small("gemini-2.5-flash", "Gemini 2.5 Flash", "google", { ...firstSmall, until: "2026-12-01", successor: "gemini-3.5-flash-lite" }),
  // OpenAI names no day for this one. We take the day on which GPT-5 ends.
  search("gpt-5-search-api", "GPT-5 Search", "openai", {
    ...{ ...firstLarge, ...tokens(15_500, 4_000), protocol: "openai-chat" },
    ...{ credits: 5, until: "2026-12-11", successor: "gpt-6.1-terra-search" },
  }),
  speech("gpt-4o-mini-tts", "GPT-4o Mini TTS", "openai", { ...first, until: "2027-01-06", successor: "voxtral-mini-tts-3-0" }),
  transcript("whisper-1", "Whisper", "openai", { ...first, until: "2027-02-26", successor: "gpt-transcribe" }),

  // What has ended. Mistral moves the alias mistral-large-latest to other models without notice, so we have ended that product ourselves.
  large("mistral-large-latest", "Mistral Large", "mistral", { ...firstLarge, until: catalogueAsOf, successor: "mistral-medium-3-5" }),
  small("deepseek-chat", "DeepSeek Chat", "deepseek", { ...firstSmall, until: "2026-07-24", successor: "deepseek-flash" }),
  image("dall-e-3", "DALL-E 3", "openai", { ...first, until: "2026-05-12", successor: "gpt-image-2.6-flare" }),
  image("gpt-image-1", "GPT Image 1", "openai", { ...first, credits: 12, until: "2026-10-23", successor: "gpt-image-2.6-sunburst" }),
  video("sora-2", "Sora 2", "openai", { ...first, until: "2026-09-24", successor: "grok-imagine-video-1.5" }),
];

export type ModelId = (typeof rows)[number]["id"];
export type CatalogueModel = Model & { id: ModelId; provider: Provider };

/** Every model we offer or ever offered. */
export const catalogue: readonly CatalogueModel[] = rows;

/** Undefined if we never offered it. */
export function findModel(id: string): CatalogueModel | undefined {
  return catalogue.find((model) => model.id === id);
}

/** The start of a day of the catalogue. */
export function startOf(day: string): Date {
  return new Date(`${day}T00:00:00Z`);
}

/** A model's end is announced this many days ahead. */
const announcementDays = 30;

export type ModelState = "planned" | "offered" | "announced" | "retired";

/** An announced model is still offered; everybody who sees it is told on which day it leaves. */
export function modelState({ from, until }: Pick<Model, "from" | "until">, now: Date): ModelState {
  if (now < startOf(from)) return "planned";
  if (until === undefined) return "offered";
  if (now >= startOf(until)) return "retired";
  return now >= addMilliseconds(startOf(until), -announcementDays * dayMs) ? "announced" : "offered";
}

export function isOffered(model: Pick<Model, "from" | "until">, now: Date): boolean {
  const state = modelState(model, now);
  return state === "offered" || state === "announced";
}

/**
 * The model itself while it is offered and not switched off, then the first of its successors that is; undefined if none is. `find` knows
 * the models among which to look.
 */
export function livingModel<Known extends Pick<Model, "from" | "until" | "successor">>(
  find: (id: string) => Known | undefined,
  id: string,
  now: Date,
  off: readonly string[] = [],
): Known | undefined {
  const model = find(id);
  if (!model || (isOffered(model, now) && !off.includes(id))) return model;
  return model.successor === undefined ? undefined : livingModel(find, model.successor, now, off);
}

/** What is offered at this time. */
export function modelsAt(now: Date): readonly CatalogueModel[] {
  return catalogue.filter((model) => isOffered(model, now));
}

/** The free trial's credits pay for small text models only. */
export function isInTrial(model: Pick<Model, "size">): boolean {
  return model.size === "small";
}
