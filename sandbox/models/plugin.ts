import { randomUUID } from "node:crypto";
import type { FastifyError, FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#domain/clock.ts";
import type { Model, Provider } from "#domain/models.ts";
import { catalogue, providers } from "#domain/models.ts";
import type { Answer, Frames } from "./answer.ts";
import { sendAnswer, streamAnswer } from "./answer.ts";
import { sendAnthropicError } from "./anthropic-error.ts";
import { ModelCalls } from "./calls.ts";
import { chatFrames } from "./chat-frames.ts";
import { readChatRequest } from "./chat-request.ts";
import { ClipJobs } from "./clips.ts";
import { registerClips } from "./clips-routes.ts";
import type { Pace } from "./delivery.ts";
import { paceOf, produce, turnAway } from "./delivery.ts";
import type { ModelFault } from "./faults.ts";
import { ModelFaults } from "./faults.ts";
import { readBody, readModel } from "./fields.ts";
import { sendPictures, streamPicture } from "./images.ts";
import { readForm, readPictureRequest } from "./images-request.ts";
import { isAskedAs, isServed, listModels } from "./lives.ts";
import { messageFrames } from "./messages-frames.ts";
import { readMessagesRequest } from "./messages-request.ts";
import type { OpenAiErrorBody } from "./openai-error.ts";
import { contentFiltered, grokRefused, missingKey, OpenAiError, pictureBlocked, unknownAddress, unknownModel } from "./openai-error.ts";
import { writeReply } from "./reply.ts";
import type { AnswerRequest, ReadRequest } from "./requests.ts";
import { responseFrames } from "./responses-frames.ts";
import { readResponsesRequest } from "./responses-request.ts";
import { citing, findSources } from "./search.ts";
import { answerSound, soundModels } from "./sound-routes.ts";
import { thinkingTokens } from "./thinking.ts";
import { splitTokens } from "./tokens.ts";

/** The model server, with the parts that the control page and endpoints change. */
export interface ModelServer {
  /** Decides which models have begun or ended. */
  clock: Clock;
  plugin: FastifyPluginAsync;
  faults: ModelFaults;
  calls: ModelCalls;
  /** A change applies to running answers too. */
  pace: Pace;
  clips: ClipJobs;
}

export const humanPaceMs = 20;
const bodyLimitBytes = 32 * 1024 * 1024;
/** For forms with reference pictures. */
const formLimitBytes = 632 * 1024 * 1024;

/** A protocol as the sandbox plays it. */
interface Played {
  path: string;
  idPrefix: string;
  read: ReadRequest;
  frames(answer: Answer): Frames;
}

const chat: Played = { path: "/chat/completions", idPrefix: "chatcmpl-", read: readChatRequest, frames: chatFrames };
const responses: Played = { path: "/responses", idPrefix: "resp_", read: readResponsesRequest, frames: responseFrames };
const messages: Played = { path: "/messages", idPrefix: "msg_", read: readMessagesRequest, frames: messageFrames };

/** The protocols of each provider that the product uses. */
const played: Readonly<Record<Provider, readonly Played[]>> = {
  openai: [chat, responses],
  anthropic: [messages],
  google: [chat],
  mistral: [chat],
  deepseek: [chat],
  perplexity: [responses],
  xai: [chat, responses],
};

/** The provider's models that are played here, ended ones too. Models without a protocol ended before we had one for them. */
function playedModels(provider: string, kind: "chat" | "pictures" | "clips"): Model[] {
  const categories = { pictures: "image", clips: "video" };
  const isAsked = ({ category, inputTokenLimit }: Model) => (kind === "chat" ? inputTokenLimit > 0 : category === categories[kind]);
  return catalogue.filter((model) => model.provider === provider && model.protocol !== undefined && isAsked(model));
}

/** The reason with which a fault ends an answer early. */
function earlyFinish(fault: ModelFault | undefined): Answer["finish"] | undefined {
  return fault?.fault === "length" || fault?.fault === "content_filter" || fault?.fault === "tool_calls" ? fault.fault : undefined;
}

/** Thinking tokens count towards the limit before those of the answer. */
function planAnswer(
  model: Model,
  { idPrefix }: Played,
  asked: AnswerRequest,
  paceMs: Answer["paceMs"],
  fault: ModelFault | undefined,
): Answer {
  const question = asked.messages.findLast(({ role }) => role === "user")?.text ?? "";
  const sources = asked.searches ? findSources(question) : [];
  const all = fault?.fault === "empty" ? [] : splitTokens(citing(model.provider, writeReply(model.name, asked.messages), sources));
  const early = earlyFinish(fault);
  const limit = asked.maximumTokens ?? Number.POSITIVE_INFINITY;
  const thought = Math.min(thinkingTokens(model, asked.effort), limit);
  const tokens = all.slice(0, Math.min(limit - thought, early ? (fault?.afterTokens ?? 0) : all.length));
  return {
    id: idPrefix + randomUUID(),
    createdSeconds: Math.floor(Date.now() / 1000),
    provider: model.provider,
    model: model.upstreamModel,
    tokens,
    finish: early ?? (tokens.length < all.length ? "length" : "complete"),
    promptTokens: asked.promptTokens,
    thinkingTokens: thought,
    includeUsage: asked.includeUsage,
    query: question.slice(0, 200),
    sources,
    paceMs,
    fault,
  };
}

function toOpenAiError(error: FastifyError | OpenAiError, request: FastifyRequest): OpenAiError {
  if (error instanceof OpenAiError) return error;
  const status = error.statusCode ?? 500;
  if (status >= 500) request.log.error({ error }, "the model server failed");
  const body: OpenAiErrorBody["error"] = {
    message: status >= 500 ? "The server had an error." : error.message,
    type: status >= 500 ? "server_error" : "invalid_request_error",
    param: null,
    code: null,
  };
  return new OpenAiError(status, body);
}

function answerErrors(instance: FastifyInstance): void {
  const send = (error: OpenAiError, request: FastifyRequest, reply: FastifyReply) => {
    if (new URL(request.url, "http://sandbox").pathname.includes("/anthropic/")) return sendAnthropicError(reply, error);
    return reply.code(error.statusCode).headers(error.headers).send(error.sent);
  };
  instance.setErrorHandler((error: FastifyError | OpenAiError, request, reply) => send(toOpenAiError(error, request), request, reply));
  instance.setNotFoundHandler((request, reply) => send(unknownAddress(request.method, request.url), request, reply));
}

/** OpenAI's protocols carry the key as a bearer token, Anthropic's in a header of its own. */
function hasKey({ headers }: FastifyRequest): boolean {
  return /^Bearer \S+/.test(headers.authorization ?? "") || (headers["x-api-key"] ?? "") !== "";
}

/** How the provider says that a filter refused a question before anything was sent. */
function filterRefusal(provider: Provider): (fault?: ModelFault) => Error {
  if (provider === "xai") return grokRefused;
  return provider === "openai" ? contentFiltered : () => contentFiltered();
}

/** Each picture varies from those that were made before it. */
async function makePictures(
  server: Omit<ModelServer, "plugin">,
  variations: { made: number },
  request: FastifyRequest,
  reply: FastifyReply,
  provider: Provider,
): Promise<void> {
  const form = Buffer.isBuffer(request.body) ? await readForm(request.body, String(request.headers["content-type"])) : undefined;
  const body = form?.fields ?? readBody(request.body);
  const asked = readModel(body);
  const model = playedModels(provider, "pictures").find((each) => isAskedAs(each, asked) && isServed(each, server.clock.now()));
  if (!model) throw unknownModel(provider, asked);
  const wanted = readPictureRequest(body, form);
  const paceMs = paceOf(request, server.pace);
  const promptTokens = wanted.textTokens + wanted.pictureTokens;
  const call = server.calls.start({ model: model.id, stream: wanted.stream, promptTokens });
  const fault = server.faults.take(model.id);
  // A filter of pictures refuses them before anything is sent.
  turnAway(fault && { ...fault, afterTokens: 0 }, asked, call, pictureBlocked);
  variations.made += wanted.count;
  const variation = variations.made;
  return produce(reply, fault, call, (signal) =>
    (wanted.stream ? streamPicture : sendPictures)({ response: reply.raw, asked: wanted, variation, fault, paceMs, call, signal }),
  );
}

/** The server that replaces every provider without a key. Its answers say that they are from the sandbox. */
export function createModelServer(clock: Clock): ModelServer {
  const server = { clock, faults: new ModelFaults(), calls: new ModelCalls(), pace: { milliseconds: humanPaceMs }, clips: new ClipJobs() };

  async function answer(request: FastifyRequest, reply: FastifyReply, provider: Provider, protocol: Played): Promise<void> {
    const body = readBody(request.body);
    const asked = readModel(body);
    const candidates = playedModels(provider, "chat").filter((each) => isAskedAs(each, asked) && isServed(each, clock.now()));
    const [first] = candidates;
    if (first === undefined) throw unknownModel(provider, asked);
    const wanted = protocol.read(body, first);
    // We sell some of the providers' models twice: as they are, and with a search.
    const model = candidates.find(({ category }) => (category === "search") === wanted.searches) ?? first;
    const paceMs = paceOf(request, server.pace);
    const call = server.calls.start({ model: model.id, stream: wanted.stream, promptTokens: wanted.promptTokens });
    const fault = server.faults.take(model.id);
    turnAway(fault, asked, call, filterRefusal(provider));
    const planned = planAnswer(model, protocol, wanted, paceMs, fault);
    const frames = protocol.frames(planned);
    return produce(reply, fault, call, (signal) =>
      (wanted.stream ? streamAnswer : sendAnswer)({ response: reply.raw, answer: planned, frames, call, signal }),
    );
  }

  const variations = { made: 0 };
  const plugin: FastifyPluginAsync = async (instance) => {
    answerErrors(instance);
    instance.addContentTypeParser("multipart/form-data", { parseAs: "buffer" }, async (_request: FastifyRequest, body: Buffer) => body);
    instance.addHook("onRequest", async (request) => {
      if (!hasKey(request) && !/\/files\/[^/]+\/[^/]+\.mp4$/.test(request.url)) throw missingKey();
    });
    for (const provider of providers) {
      const prefix = `/${provider}/v1`;
      instance.get(`${prefix}/models`, async () => ({ object: "list", data: listModels(provider, clock.now()) }));
      instance.get<{ Params: { model: string } }>(`${prefix}/models/:model`, async (request) => {
        const found = listModels(provider, clock.now()).find(({ id }) => id === request.params.model);
        if (found === undefined) throw unknownModel(provider, request.params.model);
        return found;
      });
      for (const protocol of played[provider])
        instance.post(`${prefix}${protocol.path}`, { bodyLimit: bodyLimitBytes }, (request, reply) =>
          answer(request, reply, provider, protocol),
        );
      const makers = playedModels(provider, "clips");
      if (makers.length > 0) registerClips(instance, prefix, { server, provider, models: makers, paceOf });
      for (const kind of ["transcriptions", "speech"] as const)
        if (soundModels(provider, kind).length > 0)
          instance.post(`${prefix}/audio/${kind}`, { bodyLimit: bodyLimitBytes }, (request, reply) =>
            answerSound(server, { request, reply }, provider, kind),
          );
      if (playedModels(provider, "pictures").length > 0)
        for (const path of ["/images/generations", "/images/edits"])
          instance.post(`${prefix}${path}`, { bodyLimit: formLimitBytes }, (request, reply) =>
            makePictures(server, variations, request, reply, provider),
          );
    }
  };
  return { plugin, ...server };
}
