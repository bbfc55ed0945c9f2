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
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return Buffer.concat(chunks);
      bytes += value.length;
      if (bytes > most) throw new ModelOutage("provider_garbage", "the response has no end");
      chunks.push(value);
    }
  } finally {
    // Closes the connection if part of the response was not read.
    void reader.cancel().catch(() => {});
  }
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
