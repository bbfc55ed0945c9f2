/** A proxy that drops or changes an HTTP server's responses, as a bad network or a slow bank would. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";

/** Takes the server's response and returns the text to pass on, or undefined to drop the connection. */
export type PassOn = (request: { method: string; path: string }, answer: string) => string | undefined | Promise<string | undefined>;

export interface HttpProxy {
  url: URL;
  close(): Promise<void>;
}

async function forward(target: string, request: IncomingMessage, response: ServerResponse, passOn: PassOn): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
  const answered = await fetch(new URL(request.url ?? "/", target), {
    method: request.method ?? "GET",
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
  });
  const text = await passOn({ method: request.method ?? "GET", path: (request.url ?? "/").split("?")[0] ?? "/" }, await answered.text());
  if (text === undefined) {
    request.socket.destroy();
    return;
  }
  response.writeHead(answered.status, { "content-type": "application/json" }).end(text);
}

export async function startHttpProxy(target: string, passOn: PassOn): Promise<HttpProxy> {
  const server = createServer((request, response) => {
    forward(target, request, response, passOn).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return {
    url: new URL(`http://127.0.0.1:${address.port}`),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
