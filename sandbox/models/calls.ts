/** The latest calls to the model server, for the control page and for scripts that check what was sent to a provider. */
export interface ModelCall {
  at: string;
  model: string;
  stream: boolean;
  promptTokens: number;
  /** How many tokens were sent. */
  completionTokens: number;
  /** `aborted`: the caller disconnected before the end. */
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
