import OpenAI from "openai";
import type { Model, Provider } from "#domain/models.ts";
import type { Config } from "../config.ts";

/** The model providers. Each has a base address and a key; all are called with the `openai` package. */
export interface ModelGateway {
  /** Whether the model's provider has credentials, or is replaced by the sandbox. */
  isAvailable(model: Model): boolean;
  isSandboxed(model: Model): boolean;
  /** Undefined if the provider has no credentials. */
  client(provider: Provider): OpenAI | undefined;
}

/** Public addresses of the providers' OpenAI-compatible APIs; `…_BASE_URL` overrides them. */
const baseUrls: Record<Provider, string> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta/openai",
  mistral: "https://api.mistral.ai/v1",
  deepseek: "https://api.deepseek.com/v1",
  perplexity: "https://api.perplexity.ai",
};

export function createModelGateway(config: Pick<Config, "models" | "sandbox">): ModelGateway {
  const clients = new Map<Provider, OpenAI>();
  for (const [provider, credentials] of Object.entries(config.models) as [Provider, NonNullable<Config["models"][Provider]>][]) {
    clients.set(
      provider,
      new OpenAI({ apiKey: credentials.apiKey, baseURL: credentials.baseUrl ?? baseUrls[provider], maxRetries: 0, timeout: 60_000 }),
    );
  }
  const sandboxOrigin = config.sandbox?.url.origin;
  return {
    isAvailable: (model) => clients.has(model.provider),
    isSandboxed: (model) => sandboxOrigin !== undefined && (config.models[model.provider]?.baseUrl ?? "").startsWith(sandboxOrigin),
    client: (provider) => clients.get(provider),
  };
}
