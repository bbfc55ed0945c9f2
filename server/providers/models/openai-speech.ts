/** OpenAI's speech: the response is the MP3 itself. */
import { connectOpenAi } from "./openai-library.ts";
import type { ConnectModels, ModelCall, ModelEvent } from "./protocol.ts";
import { ModelOutage } from "./protocol.ts";
import { inputOf, mostSoundBytes, speechTimeoutMs } from "./read-aloud.ts";
import { readBytes } from "./whole-response.ts";

export const connectOpenAiSpeech: ConnectModels = (_provider, address, send) => {
  const request = connectOpenAi(address, send);
  async function* ask(call: ModelCall): AsyncGenerator<ModelEvent> {
    const body = { model: call.model.upstreamModel, ...inputOf(call), response_format: "mp3" as const };
    const options = { signal: call.signal, timeout: speechTimeoutMs };
    const response = await request((client) => client.audio.speech.create(body, options).asResponse());
    if (!/^audio\//i.test(response.headers.get("content-type") ?? "")) {
      await response.body?.cancel();
      throw new ModelOutage("provider_garbage", "the response is no sound");
    }
    const bytes = await readBytes(response, mostSoundBytes);
    if (bytes.length > 0) yield { type: "sound", bytes };
    yield { type: "finish", reason: "complete" };
  }
  return { ask };
};
