/**
 * How each model is asked beside its messages (server/providers/models/), by its id. What a model thinks is billed as output and counts
 * towards the limit on its output, so a model that thinks is told to think little: the answer has to fit as well.
 */
import type { Model, ModelId } from "./models.ts";

/** From none to much. No provider knows all of them; which ones a model takes is in its provider's documentation. */
export type ThinkingEffort = "none" | "minimal" | "low";

export interface ModelParameters {
  /** Absent for a model that does not think, or can't be told how much. Models that think refuse other sampling than their provider's. */
  effort?: ThinkingEffort;
  /** The most searches of the web for one answer. Absent for a model that does not search, or always searches once. */
  searches?: number;
  /** What its provider takes beside text. A PDF that a model does not take is sent as text. */
  inputs?: readonly ("picture" | "pdf")[];
  /** The longest recording that its provider takes, if that is shorter than ours (transcripts.ts). */
  recordingSeconds?: number;
}

const pictures = { inputs: ["picture"] } as const;
const picturesAndPdf = { inputs: ["picture", "pdf"] } as const;

const parameters: Readonly<Partial<Record<ModelId, ModelParameters>>> = {
  "grok-4.6": pictures,
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
  sonar: { searches: 3 },
  // Of this model only others say so, last in August 2026: OpenAI's transcribing models refuse what is longer than 1,500 seconds. A refusal before the
  // price is better than one after it.
  "gpt-transcribe": { recordingSeconds: 25 * 60 },
  "gpt-6.1-terra-search": { effort: "low", searches: 3, ...picturesAndPdf },
};

export function parametersOf({ id, own }: Pick<Model, "id" | "own">): ModelParameters {
  if (own) return own.pictures ? pictures : {};
  return (parameters as Readonly<Record<string, ModelParameters>>)[id] ?? {};
}
