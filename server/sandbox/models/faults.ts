import { findModel } from "#domain/models.ts";

/** Each way a provider fails (acceptance 19), as the model server plays it. */
export const modelFaultKinds = [
  "die_mid_stream",
  "rate_limited",
  "server_error",
  "hang",
  "garbage",
  "no_usage",
  "empty",
  "slow_first_token",
] as const;
export type ModelFaultKind = (typeof modelFaultKinds)[number];

export interface ModelFault {
  /** A model's id, or `*` for all of them. */
  model: string;
  fault: ModelFaultKind;
  /** How many more calls it strikes; null until it is cleared. */
  count: number | null;
  /** How many tokens come out before a stream dies, hangs or turns to garbage. */
  afterTokens: number;
  /** How late the first token of `slow_first_token` is. */
  delayMs: number;
}

/** Faults wait in memory alone: a restarted sandbox is a healthy one. */
export class ModelFaults {
  private readonly faults = new Map<string, ModelFault>();

  set(fault: ModelFault): void {
    this.faults.set(fault.model, fault);
  }

  /** `*` clears every model's. */
  clear(model: string): void {
    if (model === "*") this.faults.clear();
    else this.faults.delete(model);
  }

  list(): ModelFault[] {
    return [...this.faults.values()];
  }

  /** The fault this call meets, counted off; a model's own comes before the one for all. */
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
