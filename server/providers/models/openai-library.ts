/** The `openai` package, and what its errors mean. */
import type OpenAI from "openai";
import type { ModelAddress } from "./protocol.ts";
import { toModelError } from "./provider-errors.ts";
import { isFields, listOf } from "./response-stream.ts";

/** Until the response begins. Not every server begins it before it has thought, so this is longer than anybody waits for a text (ask-for.ts). */
export const responseTimeoutMs = 3 * 60_000;

/** Its two hundred files are loaded for the first question: a process starts without them. */
const library = () => import("openai");

/** Sends a request and returns its response before its body is read. */
export type SendRequest = (request: (client: OpenAI) => Promise<Response>) => Promise<Response>;

/** What is to be read as the error: Mistral sends its fields without OpenAI's `error` around them, and Google puts the whole into a list. */
function errorBody(text: string): string {
  try {
    const sent: unknown = JSON.parse(text);
    const [body = sent] = listOf(sent);
    return isFields(body) && !("error" in body) ? JSON.stringify({ error: body }) : JSON.stringify(body);
  } catch {
    return text;
  }
}

/** The package reads only what is in an error's field `error`. */
function withErrorField(send: typeof fetch): typeof fetch {
  return async (address, init) => {
    const response = await send(address, init);
    const { ok, status, headers } = response;
    if (ok || status < 400) return response;
    const told = ["content-type", "retry-after"].flatMap((name): [string, string][] => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    return new Response(errorBody(await response.text()), { status, headers: told });
  };
}

export function connectOpenAi({ apiKey, baseUrl }: ModelAddress, send: typeof fetch): SendRequest {
  const connected = library().then((openai) => ({
    openai,
    client: new openai.OpenAI({ apiKey, baseURL: baseUrl, maxRetries: 0, timeout: responseTimeoutMs, fetch: withErrorField(send) }),
  }));
  return async (request) => {
    const { openai, client } = await connected;
    return request(client).catch((error: unknown) => {
      throw toModelError(error, openai);
    });
  };
}
