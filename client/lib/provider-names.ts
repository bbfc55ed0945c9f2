import type { Provider } from "#domain/models.ts";

const names: Readonly<Record<Provider, string>> = {
  openai: "OpenAI",
  anthropic: "Anthropic",
  google: "Google",
  mistral: "Mistral",
  deepseek: "DeepSeek",
  perplexity: "Perplexity",
  xai: "xAI",
};

/** The provider's own spelling. A server of the operator's has the name that the operator gave it. */
export function providerName(provider: string): string {
  return (names as Readonly<Record<string, string>>)[provider] ?? provider;
}
