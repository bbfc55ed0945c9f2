/** The models of all providers: which can be asked, and how each is asked. */
import type { ClipProtocol, Model, ModelProtocol, Provider } from "#domain/models.ts";
import type { Config } from "../../config.ts";
import { refuseWithinTransaction } from "../../db/transaction.ts";
import { anthropicListForm, connectAnthropicMessages } from "./anthropic-messages.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { request } from "./http-client.ts";
import { connectMistralSpeech } from "./mistral-speech.ts";
import { connectMistralTranscriptions } from "./mistral-transcriptions.ts";
import type { ListedModel, ListForm } from "./model-list.ts";
import { listModels, openAiListForm } from "./model-list.ts";
import { connectOpenAiChat } from "./openai-chat.ts";
import { connectOpenAiImages } from "./openai-images.ts";
import { connectOpenAiResponses } from "./openai-responses.ts";
import { connectOpenAiSpeech } from "./openai-speech.ts";
import { connectOpenAiTranscriptions } from "./openai-transcriptions.ts";
import type {
  ClipConnection,
  ClipState,
  ClipWish,
  ConnectClips,
  ConnectModels,
  ModelAddress,
  ModelCall,
  ModelConnection,
  ModelEvent,
} from "./protocol.ts";
import { connectXaiVideos } from "./xai-videos.ts";

/** To add a protocol, write its file, add its name to the catalogue (domain/models.ts) and its line here. */
const protocols: Readonly<Record<Exclude<ModelProtocol, ClipProtocol>, ConnectModels>> = {
  "openai-chat": connectOpenAiChat,
  "openai-responses": connectOpenAiResponses,
  "openai-images": connectOpenAiImages,
  "openai-transcriptions": connectOpenAiTranscriptions,
  "openai-speech": connectOpenAiSpeech,
  "anthropic-messages": connectAnthropicMessages,
  "mistral-transcriptions": connectMistralTranscriptions,
  "mistral-speech": connectMistralSpeech,
};

const clipProtocols: Readonly<Record<ClipProtocol, ConnectClips>> = { "xai-videos": connectXaiVideos };

function isClipProtocol(protocol: ModelProtocol): protocol is ClipProtocol {
  return protocol in clipProtocols;
}

/** `…_BASE_URL` overrides them. */
const baseUrls: Readonly<Record<Provider, string>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta/openai",
  mistral: "https://api.mistral.ai/v1",
  deepseek: "https://api.deepseek.com/v1",
  perplexity: "https://api.perplexity.ai/v1",
  xai: "https://api.x.ai/v1",
};

/** Of providers that don't list their models in OpenAI's way. */
const listForms: Readonly<Partial<Record<Model["provider"], ListForm>>> = { anthropic: anthropicListForm };

export interface ModelGateway {
  /** Whether we speak the model's protocol and have credentials for its provider, or the sandbox replaces the provider. */
  isAvailable(model: Model): boolean;
  isSandboxed(model: Model): boolean;
  /** Returns 0 if the person may ask the model, or else in how many milliseconds they may (circuit-breaker.ts). */
  waitMs(model: Model, personId: string): number;
  /** Whether the provider worked for a person's answer, as far as the answer tells that. */
  report(model: Model, personId: string, worked: boolean): void;
  /** Notes that a worker has paused the model for everybody (circuit-breaker.ts). */
  pausedElsewhere(model: Model, pauseMs: number): void;
  /** Does what `ModelConnection.ask` does. Throws if the model is not available. */
  ask(call: ModelCall): AsyncIterable<ModelEvent>;
  /** These do what `ClipConnection`'s do. They throw if the model is not available. */
  startClip(model: Model, personId: string, wish: ClipWish, signal: AbortSignal): Promise<string>;
  checkClip(model: Model, requestId: string, signal: AbortSignal): Promise<ClipState>;
  fetchClip(model: Model, url: string, signal: AbortSignal): Promise<Response>;
  /** The models that the provider serves now; undefined if it has no list. Throws if it can't be read, or there are no credentials. */
  list(provider: Model["provider"]): Promise<ListedModel[] | undefined>;
}

const send: typeof fetch = (address, init) => {
  refuseWithinTransaction("A model provider");
  return request(address, init);
};

export function createModelGateway(config: Pick<Config, "models" | "sandbox">): ModelGateway {
  const connections = new Map<string, ModelConnection>();
  const clipConnections = new Map<string, ClipConnection>();
  const breaker = new CircuitBreaker();
  const circuitOf = ({ provider, upstreamModel }: Model) => `${provider} ${upstreamModel}`;
  const sandboxOrigin = config.sandbox?.url.origin;

  function addressOf(provider: Model["provider"]): ModelAddress {
    const credentials = config.models[provider];
    if (!credentials) throw new Error(`${provider} can't be asked: no credentials`);
    const baseUrl = credentials.baseUrl ?? (provider in baseUrls ? baseUrls[provider as Provider] : undefined);
    if (baseUrl === undefined) throw new Error(`${provider} can't be asked: no address`);
    return { apiKey: credentials.apiKey, baseUrl };
  }

  function connectionOf(protocol: ModelProtocol | undefined, provider: Model["provider"]): ModelConnection {
    if (!protocol || isClipProtocol(protocol)) throw new Error(`${provider} can't be asked: no protocol`);
    const key = `${protocol} ${provider}`;
    const connection = connections.get(key) ?? protocols[protocol](provider, addressOf(provider), send);
    connections.set(key, connection);
    return connection;
  }

  function clipsOf({ protocol, provider }: Model): ClipConnection {
    if (!protocol || !isClipProtocol(protocol)) throw new Error(`${provider} can't be asked for clips: no protocol`);
    const key = `${protocol} ${provider}`;
    const connection = clipConnections.get(key) ?? clipProtocols[protocol](addressOf(provider), send);
    clipConnections.set(key, connection);
    return connection;
  }

  return {
    isAvailable: (model) => model.protocol !== undefined && config.models[model.provider] !== undefined,
    isSandboxed: (model) => sandboxOrigin !== undefined && (config.models[model.provider]?.baseUrl ?? "").startsWith(sandboxOrigin),
    waitMs: (model, personId) => breaker.waitMs(circuitOf(model), personId),
    report: (model, personId, worked) => (worked ? breaker.worked(circuitOf(model)) : breaker.failed(circuitOf(model), personId)),
    pausedElsewhere: (model, pauseMs) => breaker.pausedElsewhere(circuitOf(model), pauseMs),
    list: async (provider) => listModels(provider, addressOf(provider), listForms[provider] ?? openAiListForm, send),
    async startClip(model, personId, wish, signal) {
      breaker.asked(circuitOf(model), personId);
      return clipsOf(model).start(model, wish, signal);
    },
    checkClip: async (model, requestId, signal) => clipsOf(model).check(requestId, signal),
    fetchClip: async (model, url, signal) => clipsOf(model).fetch(url, signal),
    ask(call) {
      breaker.asked(circuitOf(call.model), call.personId);
      return connectionOf(call.model.protocol, call.model.provider).ask(call);
    },
  };
}
