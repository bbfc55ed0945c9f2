/** The providers' endpoints for transcripts and speech. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#domain/clock.ts";
import type { Model, Provider } from "#domain/models.ts";
import { catalogue } from "#domain/models.ts";
import { readAudioForm, readSpeechRequest, readTranscriptRequest } from "./audio-request.ts";
import type { ModelCalls } from "./calls.ts";
import type { Pace } from "./delivery.ts";
import { paceOf, produce, turnAway } from "./delivery.ts";
import type { ModelFaults } from "./faults.ts";
import { readBody, readModel } from "./fields.ts";
import { isAskedAs, isServed } from "./lives.ts";
import { invalidRequest, unknownModel } from "./openai-error.ts";
import { sendSpeech } from "./speech.ts";
import type { SoundDelivery } from "./transcripts.ts";
import { sendTranscript, streamTranscript } from "./transcripts.ts";

interface Server {
  clock: Clock;
  faults: ModelFaults;
  calls: ModelCalls;
  pace: Pace;
}

export type SoundKind = "transcriptions" | "speech";

export function soundModels(provider: string, kind?: SoundKind): Model[] {
  const units = { transcriptions: "minute", speech: "thousand_characters" } as const;
  return catalogue.filter(
    (model) => model.provider === provider && model.category === "audio" && (kind === undefined || model.unit === units[kind]),
  );
}

function findModel({ clock }: Server, provider: Provider, kind: SoundKind, asked: string): Model {
  const model = soundModels(provider, kind).find((each) => isAskedAs(each, asked) && isServed(each, clock.now()));
  if (!model) throw unknownModel(provider, asked);
  return model;
}

export async function answerSound(
  server: Server,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  provider: Provider,
  kind: SoundKind,
): Promise<void> {
  const begin = (model: Model, stream: boolean, promptTokens: number) => {
    const call = server.calls.start({ model: model.id, stream, promptTokens });
    const fault = server.faults.take(model.id);
    turnAway(fault, model.upstreamModel, call);
    const rest = { response: reply.raw, model, fault, paceMs: paceOf(request, server.pace), call };
    return (deliver: (delivery: SoundDelivery) => Promise<void>) => produce(reply, fault, call, (signal) => deliver({ ...rest, signal }));
  };
  if (kind === "speech") {
    const fields = readBody(request.body);
    const model = findModel(server, provider, kind, readModel(fields));
    const asked = readSpeechRequest(fields, model);
    return begin(model, false, Math.ceil(asked.text.length / 4))((delivery) => sendSpeech(delivery, asked));
  }
  if (!Buffer.isBuffer(request.body)) throw invalidRequest("Expected a multipart form.", null);
  const { fields, file } = await readAudioForm(request.body, String(request.headers["content-type"]));
  const model = findModel(server, provider, kind, readModel(fields));
  const asked = await readTranscriptRequest(fields, file, model);
  const deliver = begin(model, asked.stream, Math.ceil(asked.seconds * 10));
  return deliver((delivery) => (asked.stream ? streamTranscript(delivery, asked) : sendTranscript(delivery, asked)));
}
