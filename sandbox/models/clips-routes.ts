/** The addresses of clips: as xAI has them, and the files that the provider keeps elsewhere. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#domain/clock.ts";
import type { Model, Provider } from "#domain/models.ts";
import type { ModelCalls } from "./calls.ts";
import type { ClipJobs } from "./clips.ts";
import { readClipRequest } from "./clips-request.ts";
import type { ModelFaults } from "./faults.ts";
import { readBody, readModel } from "./fields.ts";
import { isAskedAs, isServed } from "./lives.ts";
import { clipBlocked, rateLimited, serverError, unknownAddress, unknownModel } from "./openai-error.ts";

interface Server {
  clock: Clock;
  faults: ModelFaults;
  calls: ModelCalls;
  pace: { milliseconds: number };
  clips: ClipJobs;
}

interface Played {
  server: Server;
  provider: Provider;
  models: readonly Model[];
  paceOf(request: FastifyRequest, usual: Server["pace"]): () => number;
}

const bodyLimitBytes = 32 * 1024 * 1024;
const retryAfterSeconds = 1;

async function beginClip({ server, provider, models, paceOf }: Played, request: FastifyRequest): Promise<object> {
  const body = readBody(request.body);
  const asked = readModel(body);
  const model = models.find((each) => isAskedAs(each, asked) && isServed(each, server.clock.now()));
  if (!model) throw unknownModel(provider, asked);
  const wanted = await readClipRequest(body);
  const call = server.calls.start({ model: model.id, stream: false, promptTokens: 0 });
  const fault = server.faults.take(model.id);
  const turnedAway = fault?.fault === "rate_limited" || fault?.fault === "server_error";
  const filtered = fault?.fault === "content_filter" && fault.afterTokens === 0;
  call.outcome = turnedAway || filtered ? "failed" : "completed";
  if (filtered) throw clipBlocked(fault);
  if (turnedAway) throw fault.fault === "rate_limited" ? rateLimited(asked, retryAfterSeconds) : serverError();
  return { request_id: server.clips.begin(asked, wanted, fault, paceOf(request, server.pace)) };
}

async function sendClip(jobs: ClipJobs, { id, name }: { id: string; name: string }, reply: FastifyReply): Promise<unknown> {
  const delivery = jobs.fileOf(id, name);
  if (!delivery) return reply.code(403).type("application/xml").send("<Error><Code>AccessDenied</Code></Error>");
  if (delivery.ends === "whole") return reply.type("video/mp4").send(delivery.bytes);
  reply.hijack();
  reply.raw.writeHead(200, { "content-type": "video/mp4" });
  reply.raw.write(delivery.bytes, () => {
    if (delivery.ends === "breaks") reply.raw.destroy();
  });
  return undefined;
}

/** `played.models`: the provider's models that make clips. */
export function registerClips(instance: FastifyInstance, prefix: string, played: Played): void {
  const { server } = played;
  instance.post(`${prefix}/videos/generations`, { bodyLimit: bodyLimitBytes }, (request) => beginClip(played, request));
  instance.get<{ Params: { id: string } }>(`${prefix}/videos/:id`, async (request, reply) => {
    const origin = `${request.protocol}://${request.host}${request.url.slice(0, request.url.indexOf("/videos/"))}`;
    const state = server.clips.stateOf(request.params.id, origin);
    if (!state) throw unknownAddress(request.method, request.url);
    return reply.code(state.status).type("application/json").send(state.body);
  });
  // As at the provider, the address itself is the permission to read the file, so no key is needed.
  instance.get<{ Params: { id: string; name: string } }>(`${prefix}/files/:id/:name`, (request, reply) =>
    sendClip(server.clips, request.params, reply),
  );
}
