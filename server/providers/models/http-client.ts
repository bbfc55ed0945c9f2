/**
 * The part of `fetch` that we and the providers' packages need, on Node's own HTTP client, because it is faster: text that arrives while
 * nobody reads becomes one chunk, and each chunk passes through fewer layers.
 */
import type { IncomingMessage } from "node:http";
import http from "node:http";
import https from "node:https";

/** A connection that nobody uses is closed after this long, or before the time that the provider names. */
const kept = { keepAlive: true, timeout: 4_000 } as const;
const secure = { get: https.request, agent: new https.Agent(kept) };
const plain = { get: http.request, agent: new http.Agent(kept) };

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** A `Response` with one of these has no body. */
const bodyless: ReadonlySet<number> = new Set([204, 205, 304]);

type Body = Uint8Array | string | undefined;

/**
 * Turns a form into bytes before it is sent, so that its files are not read after the call was given up. `headers` gets the boundary between its
 * parts.
 */
async function bytesOf(form: FormData, headers: Headers): Promise<Uint8Array> {
  const encoded = new Response(form);
  headers.set("content-type", encoded.headers.get("content-type") ?? "");
  return encoded.bytes();
}

/** Data that nobody has read waits in the connection's buffer, and once that is full, at the provider. */
function streamOf(message: IncomingMessage, toError: (cause: unknown) => unknown): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream(
    {
      start(controller) {
        message.once("end", () => controller.close());
        message.on("error", (error) => controller.error(toError(error)));
      },
      pull: (controller) =>
        new Promise((resolve) => {
          const take = () => {
            const arrived = message.read();
            if (arrived === null) return void message.once("readable", take);
            controller.enqueue(arrived);
            resolve();
          };
          take();
        }),
      cancel() {
        message.removeAllListeners("end");
        message.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Throws if Node's response can't be turned into a `Response`. */
function responseOf(message: IncomingMessage, toError: (cause: unknown) => unknown): Response {
  const { statusCode: status = 0, headers } = message;
  if (redirects.has(status)) throw new Error("the response is a redirect");
  if ((headers["content-encoding"] ?? "identity") !== "identity") throw new Error("the response is compressed");
  const init = { status, headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]) };
  if (!bodyless.has(status)) return new Response(streamOf(message, toError), init);
  message.resume();
  return new Response(null, init);
}

function exchange(url: URL, method: string, headers: Headers, body: Body, signal: AbortSignal | undefined): Promise<Response> {
  const toError = (cause: unknown) => (signal?.aborted ? signal.reason : new TypeError("the request failed", { cause }));
  return new Promise((resolve, reject) => {
    const { get, agent } = url.protocol === "https:" ? secure : plain;
    const request = get(url, { method, agent, headers: Object.fromEntries(headers), ...(signal && { signal }) });
    request.on("error", (error) => reject(toError(error)));
    request.on("response", (message) => {
      try {
        resolve(responseOf(message, toError));
      } catch (error) {
        reject(toError(error));
        request.destroy();
      }
    });
    request.end(body);
  });
}

/**
 * Like `fetch`, throws a `TypeError` with the reason as its cause, or the reason of the signal. A redirect is an error, because what a person
 * wrote goes to the address that the operator named, and nowhere else.
 */
export const request: typeof fetch = async (address, { method = "GET", headers: named, body, signal } = {}) => {
  const headers = new Headers(named);
  if (!headers.has("user-agent")) headers.set("user-agent", "tessera");
  headers.set("accept-encoding", "identity");
  const content = body instanceof FormData ? await bytesOf(body, headers) : body;
  if (typeof content !== "string" && !(content instanceof Uint8Array) && content) throw new TypeError("a body is a text, bytes or a form");
  const url = new URL(address instanceof Request ? address.url : address);
  return exchange(url, method, headers, content ?? undefined, signal ?? undefined);
};
