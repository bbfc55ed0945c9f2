/** What the model server was asked lately, for the control page and for scripts that check what a provider saw. */
export interface ModelCall {
  at: string;
  model: string;
  stream: boolean;
  promptTokens: number;
  /** How many tokens left the server. */
  completionTokens: number;
  /** `aborted`: the caller went away before the end. */
  outcome: "running" | "completed" | "aborted" | "failed";
}

const keptCalls = 50;

export class ModelCalls {
  private readonly calls: ModelCall[] = [];

  start(call: Omit<ModelCall, "at" | "completionTokens" | "outcome">): ModelCall {
    const record: ModelCall = { at: new Date().toISOString(), ...call, completionTokens: 0, outcome: "running" };
    this.calls.unshift(record);
    if (this.calls.length > keptCalls) this.calls.pop();
    return record;
  }

  /** Newest first. */
  list(): readonly ModelCall[] {
    return this.calls;
  }
}
