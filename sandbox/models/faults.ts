import type { FilterReason } from "#domain/filter-reasons.ts";
import { findModel } from "#domain/models.ts";

/** The ways in which the model server can fail. `half_file` is for files only; `failed_job` and `expired_address` are for clips only. */
export const modelFaultKinds = [
  "die_mid_stream",
  "rate_limited",
  "server_error",
  "hang",
  "garbage",
  "half_file",
  "no_usage",
  "zero_usage",
  "empty",
  "length",
  "content_filter",
  "tool_calls",
  "slow_first_token",
  "failed_job",
  "expired_address",
] as const;
export type ModelFaultKind = (typeof modelFaultKinds)[number];

export interface ModelFault {
  /** A model's id, or `*` for all of them. */
  model: string;
  fault: ModelFaultKind;
  /** How many more calls fail; null for all calls until the fault is cleared. */
  count: number | null;
  /** The number of tokens or previews before the stream breaks, hangs, turns to garbage or ends; for clips, of addresses that expire. */
  afterTokens: number;
  /** For `slow_first_token`: the delay of the first token. */
  delayMs: number;
  /** For `content_filter`: the reason, sent in the provider's own words; nothing is sent if the provider has no word for it. */
  reason?: FilterReason;
}

/** Faults are only in memory: after a restart the sandbox has none. */
export class ModelFaults {
  private readonly faults = new Map<string, ModelFault>();

  set(fault: ModelFault): void {
    this.faults.set(fault.model, fault);
  }

  /** `*` clears the faults of all models. */
  clear(model: string): void {
    if (model === "*") this.faults.clear();
    else this.faults.delete(model);
  }

  list(): ModelFault[] {
    return [...this.faults.values()];
  }

  /** Returns the fault for this call and counts it. A model's own fault comes before the one for all models. */
  take(modelId: string): ModelFault | undefined {
    const fault = this.faults.get(modelId) ?? this.faults.get("*");
    if (fault === undefined || fault.count === null) return fault;
    if (fault.count <= 1) this.faults.delete(fault.model);
    else this.faults.set(fault.model, { ...fault, count: fault.count - 1 });
    return fault;
  }
}

export function isFaultTarget(model: string): boolean {
  return model === "*" || findModel(model) !== undefined;
}
