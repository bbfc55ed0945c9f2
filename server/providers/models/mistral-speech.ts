/** Mistral's speech: JSON with the MP3 in base64, and a voice by another name than OpenAI's. */
import { connectOpenAi } from "./openai-library.ts";
import type { ConnectModels, ModelCall, ModelEvent } from "./protocol.ts";
import { ModelOutage } from "./protocol.ts";
import { inputOf, mostSoundBytes, speechTimeoutMs } from "./read-aloud.ts";
import { readJson } from "./whole-response.ts";

export const connectMistralSpeech: ConnectModels = (_provider, address, send) => {
  const request = connectOpenAi(address, send);
  async function* ask(call: ModelCall): AsyncGenerator<ModelEvent> {
    const { input, voice } = inputOf(call);
    const body = { model: call.model.upstreamModel, input, voice_id: voice, response_format: "mp3" };
    const options = { body, signal: call.signal, timeout: speechTimeoutMs };
    const response = await request((client) => client.post("/audio/speech", options).asResponse());
    // Base64 makes four characters of three bytes.
    const { audio_data: data } = await readJson(response, 2 * mostSoundBytes);
    if (typeof data !== "string") throw new ModelOutage("provider_garbage", "the response has no sound");
    const bytes = Buffer.from(data, "base64");
    if (bytes.length > 0) yield { type: "sound", bytes };
    yield { type: "finish", reason: "complete" };
  }
  return { ask };
};
