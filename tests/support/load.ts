/** Sends requests at a constant rate from several addresses. */
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { setTimeout as delay } from "node:timers/promises";

export interface Call {
  method: "GET" | "POST";
  path: string;
  headers?: Record<string, string>;
}

export interface LoadResult {
  sent: number;
  /** One line for each request that failed or got no 2xx. */
  failures: string[];
}

function agentOf(url: URL, keepAlive: boolean): HttpAgent | HttpsAgent {
  const options = { keepAlive, maxSockets: 20 };
  return url.protocol === "https:" ? new HttpsAgent({ ...options, rejectUnauthorized: false }) : new HttpAgent(options);
}

/** Sends one request; resolves when the whole body has arrived. `from` is the local address to send from. */
export function sendFrom(
  origin: string,
  from: string,
  { method, path, headers = {} }: Call,
  agent?: HttpAgent | HttpsAgent,
): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
  const url = new URL(path, origin);
  const secure = url.protocol === "https:";
  return new Promise((resolve, reject) => {
    const body = method === "POST" ? "{}" : undefined;
    const request = (secure ? httpsRequest : httpRequest)(url, {
      method,
      localAddress: from,
      agent: agent ?? false,
      headers: { ...(body ? { "content-type": "application/json", "content-length": body.length } : {}), ...headers },
      ...(secure ? { rejectUnauthorized: false } : {}),
    });
    request.once("error", reject);
    request.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.once("error", reject);
      response.once("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    request.end(body);
  });
}

/** Sends `calls` in turn from ten addresses until `signal` aborts. Half of the requests use keep-alive connections. */
export async function sendEvenly(origin: string, perSecond: number, calls: readonly Call[], signal: AbortSignal): Promise<LoadResult> {
  const url = new URL(origin);
  const callers = Array.from({ length: 10 }, (_, index) => ({ from: `127.0.0.${index + 20}`, agent: agentOf(url, true) }));
  const result: LoadResult = { sent: 0, failures: [] };
  const underWay = new Set<Promise<void>>();
  const startedAt = performance.now();
  while (!signal.aborted) {
    const index = result.sent;
    result.sent += 1;
    const call = calls[index % calls.length];
    const caller = callers[index % callers.length];
    if (!call || !caller) break;
    const sending = sendFrom(origin, caller.from, call, index % 20 < 10 ? caller.agent : undefined).then(
      ({ status, body }) => {
        if (status < 200 || status > 299) result.failures.push(`${call.method} ${call.path} → ${status} ${body.slice(0, 200)}`);
      },
      (error: Error) => {
        result.failures.push(`${call.method} ${call.path} → ${error.message}`);
      },
    );
    underWay.add(sending);
    void sending.then(() => underWay.delete(sending));
    await delay(Math.max(startedAt + (result.sent / perSecond) * 1_000 - performance.now(), 0));
  }
  await Promise.all(underWay);
  for (const { agent } of callers) agent.destroy();
  return result;
}
