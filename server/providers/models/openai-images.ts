/** OpenAI's pictures, streamed: one for each call, with previews while it is being made. */
import type OpenAI from "openai";
import { pictureLimits } from "#domain/pictures.ts";
import { connectOpenAi } from "./openai-library.ts";
import type { ConnectModels, ModelCall, PictureWish } from "./protocol.ts";
import { ModelOutage, plainText } from "./protocol.ts";
import { errorNamed } from "./provider-errors.ts";
import type { EventData, ReadEvent, ResponseLimits, Said } from "./response-stream.ts";
import { fieldsOf, isFields, streamEvents, tokenCount } from "./response-stream.ts";

/** A picture of the largest size has at most 6 MB without any compression, which is 8 million characters of base64. */
const limits: ResponseLimits = { bytes: 40 * 1024 * 1024, eventCharacters: 12 * 1024 * 1024 };
/** Until the response begins: pictures take minutes, and not every server begins the stream before it has something to send. */
const responseTimeoutMs = 4 * 60_000;

function fileOf(bytes: Uint8Array, name: string): File {
  return new File([new Uint8Array(bytes)], `${name}.png`, { type: "image/png" });
}

/** The sizes and what else we send are those of domain/pictures.ts, which knows what they cost. */
function bodyOf({ model, messages }: ModelCall, { size, quality, background }: PictureWish) {
  const prompt = messages.flatMap(({ parts }) => plainText(parts) ?? []).join("\n");
  const asked = { model: model.upstreamModel, prompt, n: 1, size, quality, background, output_format: "png" as const };
  return { ...asked, stream: true as const, partial_images: pictureLimits.previews };
}

async function open(client: OpenAI, call: ModelCall): Promise<Response> {
  const { picture, signal } = call;
  if (!picture) throw new Error("a model that makes pictures was asked without a size");
  const options = { signal, timeout: responseTimeoutMs };
  const body = bodyOf(call, picture);
  const { references, mask } = picture;
  if (references.length === 0) return client.images.generate(body, options).asResponse();
  const image = references.map((bytes, index) => fileOf(bytes, `reference-${index + 1}`));
  return client.images.edit({ ...body, image, ...(mask && { mask: fileOf(mask, "mask") }) }, options).asResponse();
}

function bytesOf(base64: unknown, said: Said): Uint8Array | undefined {
  const bytes = typeof base64 === "string" ? Buffer.from(base64, "base64") : undefined;
  if (bytes && bytes.length > 0) return bytes;
  said.fault = new ModelOutage("provider_garbage", "an event has no picture");
  return undefined;
}

function readUsage(usage: EventData, said: Said): void {
  said.usage({
    promptTokens: tokenCount(usage.input_tokens),
    pictureTokens: tokenCount(fieldsOf(usage.input_tokens_details).image_tokens),
    completionTokens: tokenCount(usage.output_tokens),
  });
}

/** The events of a picture, and of one that begins from others, differ by the first word of their names. */
const readEvent: ReadEvent = (event, said) => {
  const { type, error, b64_json: base64, usage } = event;
  if (isFields(error)) {
    said.fault = errorNamed(error);
  } else if (type === "image_generation.partial_image" || type === "image_edit.partial_image") {
    const bytes = bytesOf(base64, said);
    if (bytes) said.preview(bytes);
  } else if (type === "image_generation.completed" || type === "image_edit.completed") {
    const bytes = bytesOf(base64, said);
    if (!bytes) return;
    said.picture(bytes);
    said.finish("complete");
    if (isFields(usage)) readUsage(usage, said);
    said.done = true;
  }
};

export const connectOpenAiImages: ConnectModels = (_provider, address, send) => {
  const request = connectOpenAi(address, send);
  return { ask: (call) => streamEvents(() => request((client) => open(client, call)), readEvent, limits) };
};
