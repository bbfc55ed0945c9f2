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
}

const parameters: Readonly<Partial<Record<ModelId, ModelParameters>>> = {
  "gpt-6-luna": { effort: "none" },
  "gpt-6.1-terra": { effort: "none" },
  "gpt-6.1-sol": { effort: "low" },
  "gpt-5": { effort: "low" },
  "gpt-5-mini": { effort: "minimal" },
  "claude-haiku-5-5": { effort: "none" },
  "claude-sonnet-5-5": { effort: "low" },
  "gemini-3.5-flash-lite": { effort: "minimal" },
  "gemini-3.8-flash": { effort: "low" },
  "gemini-2.5-pro": { effort: "low" },
  "gemini-2.5-flash": { effort: "none" },
  "deepseek-flash": { effort: "none" },
  "deepseek-chat": { effort: "none" },
  sonar: { searches: 3 },
  "gpt-6.1-terra-search": { effort: "low", searches: 3 },
};

export function parametersOf({ id }: Pick<Model, "id">): ModelParameters {
  return (parameters as Readonly<Record<string, ModelParameters>>)[id] ?? {};
}
