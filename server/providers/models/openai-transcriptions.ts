/** OpenAI's transcripts. The newer models stream words without times; Whisper answers as a whole, with the times of its sentences. */
import type OpenAI from "openai";
import { connectOpenAi } from "./openai-library.ts";
import type { ConnectModels, ModelCall, ModelEvent } from "./protocol.ts";
import { errorNamed } from "./provider-errors.ts";
import { recordingOf, sendRecording, toFile, transcriptEvents, transcriptTimeoutMs } from "./recordings.ts";
import type { ReadEvent } from "./response-stream.ts";
import { isFields, streamEvents } from "./response-stream.ts";
import { readJson } from "./whole-response.ts";

const readEvent: ReadEvent = ({ type, delta, error }, said) => {
  if (isFields(error)) said.fault = errorNamed(error);
  else if (type === "transcript.text.delta") said.text(delta);
  else if (type === "transcript.text.done") {
    said.finish("complete");
    said.done = true;
  }
};

function streamed(client: OpenAI, call: ModelCall): Promise<Response> {
  const body = { model: call.model.upstreamModel, file: toFile(recordingOf(call)), response_format: "json", stream: true } as const;
  return client.audio.transcriptions.create(body, { signal: call.signal, timeout: transcriptTimeoutMs }).asResponse();
}

function whole(client: OpenAI, call: ModelCall): Promise<Response> {
  const body = { model: call.model.upstreamModel, file: toFile(recordingOf(call)) };
  return client.audio.transcriptions
    .create(
      { ...body, response_format: "verbose_json", timestamp_granularities: ["segment"] },
      { signal: call.signal, timeout: transcriptTimeoutMs },
    )
    .asResponse();
}

/** Whisper is the only one of OpenAI's models here that streams nothing. Other servers that speak the protocol were made for Whisper. */
const answersAsAWhole = ({ model }: ModelCall) => model.own !== undefined || model.upstreamModel.startsWith("whisper");

export const connectOpenAiTranscriptions: ConnectModels = (_provider, address, send) => {
  const connected = connectOpenAi(address, send);
  const request: typeof connected = (made) => sendRecording(connected(made));
  async function* askWhole(call: ModelCall): AsyncGenerator<ModelEvent> {
    yield* transcriptEvents(await readJson(await request((client) => whole(client, call))));
  }
  return {
    ask: (call) => (answersAsAWhole(call) ? askWhole(call) : streamEvents(() => request((client) => streamed(client, call)), readEvent)),
  };
};
