/** Reads a response that is not streamed, up to a size that no right one has. */
import { ModelOutage } from "./protocol.ts";
import type { EventData } from "./response-stream.ts";
import { isFields } from "./response-stream.ts";

/** An hour of speech is less than 100 KB of text, and with times and speakers less than a megabyte. */
const jsonBytes = 8 * 1024 * 1024;

export async function readBytes({ body }: Response, most: number): Promise<Buffer> {
  if (!body) throw new ModelOutage("provider_garbage", "the response has no body");
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early cancels the body.
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > most) throw new ModelOutage("provider_garbage", "the response has no end");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export async function readJson(response: Response, most: number = jsonBytes): Promise<EventData> {
  const text = (await readBytes(response, most)).toString("utf8");
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    content = undefined;
  }
  if (isFields(content)) return content;
  throw new ModelOutage("provider_garbage", "the response is not a JSON object");
}
