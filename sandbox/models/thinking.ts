/** How much the sandbox's models think. What they think takes no time here, but it is billed and counts towards the limit on the output. */
import { parametersOf } from "#domain/model-parameters.ts";
import type { Model } from "#domain/models.ts";
import type { Fields } from "./fields.ts";
import { invalidRequest } from "./openai-error.ts";

export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof efforts)[number];

const tokens: Readonly<Record<Effort, number>> = { none: 0, minimal: 0, low: 32, medium: 400, high: 1_500, xhigh: 4_000, max: 16_000 };

/** A model that thinks uses medium effort if the request names none. The others use no tokens for it. */
export function thinkingTokens(model: Model, effort: Effort | undefined): number {
  return parametersOf(model).effort === undefined ? 0 : tokens[effort ?? "medium"];
}

const samplingParameters = ["temperature", "top_p", "top_k"];

/** Models that think refuse all sampling parameters. */
export function refuseSampling(model: Model, fields: Fields): void {
  if (parametersOf(model).effort === undefined) return;
  const name = samplingParameters.find((each) => (fields[each] ?? undefined) !== undefined);
  if (name) throw invalidRequest(`Unsupported parameter: '${name}' is not supported with this model.`, name, "unsupported_parameter");
}
