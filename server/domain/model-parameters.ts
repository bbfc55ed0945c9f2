/**
 * How each model is asked beside its messages (server/providers/models/), by its id. What a model thinks is billed as output and counts
 * towards the limit on its output, so a model that thinks is told to think little: the answer has to fit as well.
 */
import type { Model, ModelId, Provider } from "./models.ts";

/** From none to much. No provider knows all of them; which ones a model takes is in its provider's documentation. */
export type ThinkingEffort = "none" | "minimal" | "low";

export interface ModelParameters {
  /** Absent for a model that does not think. Models that think refuse other sampling than their provider's. */
  effort?: ThinkingEffort;
  /** The most searches of the web for one answer. Absent for a model that does not search. */
  searches?: number;
  /** How many tokens of what one search finds the model reads at most. */
  foundTokens?: number;
  /** What its provider takes beside text. A PDF that a model does not take is sent as text. */
  inputs?: readonly ("picture" | "pdf")[];
  /** The longest prompt that its provider takes, if that is shorter than ours (rules.ts). */
  promptCharacters?: number;
  /** The longest recording that its provider takes, if that is shorter than ours (transcripts.ts). */
  recordingSeconds?: number;
}

/** In what a provider's chat completions differ from those of most. */
export interface ChatForm {
  /** What the limit on the answer, thinking included, is called. */
  limit: "max_tokens" | "max_completion_tokens";
  /** DeepSeek's models are not told an effort: thinking is on or off. */
  thinking: "effort" | "switch";
  /** Whether to ask for the usage. Mistral refuses that field, and sends the usage anyway. */
  asksForUsage: boolean;
  /** The tokens of the answer don't include those of thinking. */
  countsThinkingApart: boolean;
}

const usualForm: ChatForm = { limit: "max_tokens", thinking: "effort", asksForUsage: true, countsThinkingApart: false };
const forms: Readonly<Partial<Record<Provider, Partial<ChatForm>>>> = {
  openai: { limit: "max_completion_tokens" },
  xai: { limit: "max_completion_tokens", countsThinkingApart: true },
  mistral: { asksForUsage: false },
  deepseek: { thinking: "switch" },
};

export function chatFormOf({ provider }: Pick<Model, "provider">): ChatForm {
  return { ...usualForm, ...(forms as Readonly<Record<string, Partial<ChatForm>>>)[provider] };
}

const pictures = { inputs: ["picture"] } as const;
const picturesAndPdf = { inputs: ["picture", "pdf"] } as const;

const parameters: Readonly<Partial<Record<ModelId, ModelParameters>>> = {
  // xAI names no number. No clip that anybody describes needs as many, and a refusal before the price is better than one after it.
  "grok-imagine-video-1.5": { promptCharacters: 8_000 },
  "grok-4.6": { effort: "low", ...pictures },
  "mistral-small-2603": pictures,
  "mistral-medium-3-5": pictures,
  "claude-sonnet-4-5": picturesAndPdf,
  "claude-haiku-4-5": picturesAndPdf,
  "gpt-6-luna": { effort: "none", ...picturesAndPdf },
  "gpt-6.1-terra": { effort: "none", ...picturesAndPdf },
  "gpt-6.1-sol": { effort: "low", ...picturesAndPdf },
  "gpt-5": { effort: "low", ...picturesAndPdf },
  "gpt-5-mini": { effort: "minimal", ...picturesAndPdf },
  "claude-haiku-5-5": { effort: "none", ...picturesAndPdf },
  "claude-sonnet-5-5": { effort: "low", ...picturesAndPdf },
  "gemini-3.5-flash-lite": { effort: "minimal", ...pictures },
  "gemini-3.8-flash": { effort: "low", ...pictures },
  "gemini-2.5-pro": { effort: "low", ...pictures },
  "gemini-2.5-flash": { effort: "none", ...pictures },
  "deepseek-flash": { effort: "none" },
  "deepseek-chat": { effort: "none" },
  // Perplexity takes it as a limit.
  sonar: { searches: 3, foundTokens: 2_000 },
  // OpenAI takes no number. It counts 8,000 tokens for a search where it has a fixed price for what was found.
  "gpt-5-search-api": { searches: 1, foundTokens: 8_000 },
  // For this model only third parties say so, last in August 2026: OpenAI's transcribing models refuse what is longer than 1,500 seconds. A refusal before the
  // price is better than one after it.
  "gpt-transcribe": { recordingSeconds: 25 * 60 },
  "gpt-6.1-terra-search": { effort: "low", searches: 2, foundTokens: 8_000, ...picturesAndPdf },
};

export function parametersOf({ id, own }: Pick<Model, "id" | "own">): ModelParameters {
  if (own) return own.pictures ? pictures : {};
  return (parameters as Readonly<Record<string, ModelParameters>>)[id] ?? {};
}
