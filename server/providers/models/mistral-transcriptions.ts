/** Mistral's transcripts: like OpenAI's address, with fields of its own, and an answer that says who spoke when. */
import { connectOpenAi } from "./openai-library.ts";
import type { ConnectModels, ModelCall, ModelEvent } from "./protocol.ts";
import { recordingOf, sendRecording, toFile, transcriptEvents, transcriptTimeoutMs } from "./recordings.ts";
import { readJson } from "./whole-response.ts";

/** Asks for the times of sentences, because the current models refuse those of words. With times no language may be named. */
function formOf(call: ModelCall): FormData {
  const form = new FormData();
  form.set("model", call.model.upstreamModel);
  form.set("file", toFile(recordingOf(call)));
  form.set("diarize", "true");
  form.set("timestamp_granularities", "segment");
  return form;
}

export const connectMistralTranscriptions: ConnectModels = (_provider, address, send) => {
  const request = connectOpenAi(address, send);
  async function* ask(call: ModelCall): AsyncGenerator<ModelEvent> {
    const options = { body: formOf(call), signal: call.signal, timeout: transcriptTimeoutMs };
    yield* transcriptEvents(
      await readJson(await sendRecording(request((client) => client.post("/audio/transcriptions", options).asResponse()))),
    );
  }
  return { ask };
};
