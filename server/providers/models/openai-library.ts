/** The `openai` package, and what its errors mean. */
import type OpenAI from "openai";
import type { ModelAddress } from "./protocol.ts";
import { toModelError } from "./provider-errors.ts";

/** Until the response begins. */
export const responseTimeoutMs = 60_000;

/** Its two hundred files are loaded for the first question: a process starts without them. */
const library = () => import("openai");

/** Sends a request and returns its response before its body is read. */
export type SendRequest = (request: (client: OpenAI) => Promise<Response>) => Promise<Response>;

export function connectOpenAi({ apiKey, baseUrl }: ModelAddress, send: typeof fetch): SendRequest {
  const connected = library().then((openai) => ({
    openai,
    client: new openai.OpenAI({ apiKey, baseURL: baseUrl, maxRetries: 0, timeout: responseTimeoutMs, fetch: send }),
  }));
  return async (request) => {
    const { openai, client } = await connected;
    return request(client).catch((error: unknown) => {
      throw toModelError(error, openai);
    });
  };
}
