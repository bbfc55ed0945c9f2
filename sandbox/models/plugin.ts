import { randomUUID } from "node:crypto";
import type { FastifyError, FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { Model } from "#domain/models.ts";
import { models, providers } from "#domain/models.ts";
import type { Answer } from "./answer.ts";
import { sendAnswer, streamAnswer } from "./answer.ts";
import type { ModelCall } from "./calls.ts";
import { ModelCalls } from "./calls.ts";
import type { ChatRequest } from "./chat-request.ts";
import { readChatRequest } from "./chat-request.ts";
import type { ModelFault } from "./faults.ts";
import { ModelFaults } from "./faults.ts";
import type { OpenAiErrorBody } from "./openai-error.ts";
import {
  contentFiltered,
  invalidRequest,
  missingKey,
  OpenAiError,
  rateLimited,
  serverError,
  unknownAddress,
  unknownModel,
} from "./openai-error.ts";
import { writeReply } from "./reply.ts";
import { splitTokens } from "./tokens.ts";

/** The model server, with the parts that the control page and endpoints change. */
export interface ModelServer {
  plugin: FastifyPluginAsync;
  faults: ModelFaults;
  calls: ModelCalls;
  /** Milliseconds per token, unless the request sets its own; 0 for no delay. A change applies to running answers too. */
  pace: { milliseconds: number };
}

export const humanPaceMs = 20;
export const slowestPaceMs = 10_000;
const bodyLimitBytes = 4 * 1024 * 1024;
const retryAfterSeconds = 2;
const since = Math.floor(Date.UTC(2025, 0, 1) / 1000);

/** The provider's models that are called through chat completions: those that take a conversation. */
function chatModels(provider: string): Model[] {
  return models.filter((model) => model.provider === provider && model.inputTokenLimit > 0);
}

function describeModel(model: Model): object {
  return { id: model.upstreamModel, object: "model", created: since, owned_by: `sandbox-${model.provider}` };
}

function paceOf(request: FastifyRequest, usual: ModelServer["pace"]): () => number {
  const header = request.headers["x-sandbox-pace-ms"];
  if (header === undefined) return () => usual.milliseconds;
  const pace = Number(header);
  if (Number.isInteger(pace) && pace >= 0 && pace <= slowestPaceMs && header !== "") return () => pace;
  throw invalidRequest(`The header x-sandbox-pace-ms is a whole number of milliseconds from 0 to ${slowestPaceMs}.`, null);
}

/** The finish reason with which a fault ends an answer early. */
function earlyFinish(fault: ModelFault | undefined): Answer["finishReason"] | undefined {
  return fault?.fault === "length" || fault?.fault === "content_filter" || fault?.fault === "tool_calls" ? fault.fault : undefined;
}

function planAnswer(model: Model, chat: ChatRequest, paceMs: Answer["paceMs"], fault: ModelFault | undefined): Answer {
  const all = fault?.fault === "empty" ? [] : splitTokens(writeReply(model.name, chat.messages));
  const early = earlyFinish(fault);
  const tokens = all.slice(0, Math.min(chat.maximumTokens ?? all.length, early ? (fault?.afterTokens ?? 0) : all.length));
  return {
    id: `chatcmpl-${randomUUID()}`,
    createdSeconds: Math.floor(Date.now() / 1000),
    model: model.upstreamModel,
    tokens,
    finishReason: early ?? (tokens.length < all.length ? "length" : "stop"),
    promptTokens: chat.promptTokens,
    includeUsage: chat.includeUsage,
    paceMs,
    fault,
  };
}

async function produce(reply: FastifyReply, chat: ChatRequest, answer: Answer, call: ModelCall): Promise<void> {
  const gone = new AbortController();
  reply.hijack();
  reply.raw.on("error", () => gone.abort());
  reply.raw.on("close", () => gone.abort());
  await (chat.stream ? streamAnswer : sendAnswer)(reply.raw, answer, call, gone.signal);
  const broken = answer.fault?.fault === "die_mid_stream" || answer.fault?.fault === "garbage" || answer.fault?.fault === "hang";
  if (broken) call.outcome = "failed";
  else call.outcome = reply.raw.writableEnded ? "completed" : "aborted";
}

function answerErrors(instance: FastifyInstance): void {
  instance.setErrorHandler((error: FastifyError | OpenAiError, request, reply) => {
    if (error instanceof OpenAiError) return reply.code(error.statusCode).headers(error.headers).send(error.body);
    const status = error.statusCode ?? 500;
    if (status >= 500) request.log.error({ error }, "the model server failed");
    const body: OpenAiErrorBody = {
      error: {
        message: status >= 500 ? "The server had an error." : error.message,
        type: status >= 500 ? "server_error" : "invalid_request_error",
        param: null,
        code: null,
      },
    };
    return reply.code(status).send(body);
  });
  instance.setNotFoundHandler((request, reply) => {
    const error = unknownAddress(request.method, request.url);
    return reply.code(error.statusCode).send(error.body);
  });
}

/** The OpenAI-compatible server that replaces every provider without a key. Its answers say that they are from the sandbox. */
export function createModelServer(): ModelServer {
  const server = { faults: new ModelFaults(), calls: new ModelCalls(), pace: { milliseconds: humanPaceMs } };

  async function answerChat(request: FastifyRequest, reply: FastifyReply, provider: string): Promise<void> {
    const chat = readChatRequest(request.body);
    const model = chatModels(provider).find((candidate) => candidate.upstreamModel === chat.model);
    if (model === undefined) throw unknownModel(chat.model);
    const paceMs = paceOf(request, server.pace);
    const call = server.calls.start({ model: model.id, stream: chat.stream, promptTokens: chat.promptTokens });
    const fault = server.faults.take(model.id);
    if (fault?.fault === "rate_limited" || fault?.fault === "server_error") {
      call.outcome = "failed";
      throw fault.fault === "rate_limited" ? rateLimited(chat.model, retryAfterSeconds) : serverError();
    }
    if (fault?.fault === "content_filter" && fault.afterTokens === 0) {
      call.outcome = "failed";
      throw contentFiltered();
    }
    return produce(reply, chat, planAnswer(model, chat, paceMs, fault), call);
  }

  const plugin: FastifyPluginAsync = async (instance) => {
    answerErrors(instance);
    instance.addHook("onRequest", async (request) => {
      if (!/^Bearer \S+/.test(request.headers.authorization ?? "")) throw missingKey();
    });
    for (const provider of providers) {
      const prefix = `/${provider}/v1`;
      instance.get(`${prefix}/models`, async () => ({ object: "list", data: chatModels(provider).map(describeModel) }));
      instance.get<{ Params: { model: string } }>(`${prefix}/models/:model`, async (request) => {
        const model = chatModels(provider).find((candidate) => candidate.upstreamModel === request.params.model);
        if (model === undefined) throw unknownModel(request.params.model);
        return describeModel(model);
      });
      instance.post(`${prefix}/chat/completions`, { bodyLimit: bodyLimitBytes }, (request, reply) => answerChat(request, reply, provider));
    }
  };
  return { plugin, ...server };
}
