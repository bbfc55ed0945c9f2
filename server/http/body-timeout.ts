/** Limits how long the body of a request may take to arrive. The server's own limit, which can't differ by route, is that of the slowest. */
import type { App } from "./app-type.ts";

export const usualBodyMs = 30_000;
/** Ten megabytes at 450 kbit/s. Not longer, because uploads have few places (upload-limits.ts). */
export const slowUploadMs = 180_000;
/** Twenty-five megabytes, the largest recording, at 1 Mbit/s. */
export const slowRecordingMs = 210_000;

declare module "fastify" {
  interface FastifyContextConfig {
    /** For routes whose bodies are files: how long they may take to arrive, in milliseconds. */
    bodyTimeoutMs?: number;
  }
}

/** Answers 408 and closes the connection when the time is up, as Node does with a request that is too slow. Call it before routes are added. */
export function limitBodyTime(app: App, limitMs: number = usualBodyMs): void {
  const { server } = app;
  app.addHook("onRoute", ({ config }) => {
    server.requestTimeout = Math.max(server.requestTimeout, config?.bodyTimeoutMs ?? 0);
  });
  app.addHook("onRequest", async ({ raw, routeOptions }, reply) => {
    const hasBody = raw.headers["transfer-encoding"] !== undefined || Number(raw.headers["content-length"]) > 0;
    if (!hasBody) return;
    const timer = setTimeout(() => {
      if (!raw.complete) raw.socket.end("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n", () => raw.socket.destroy());
    }, routeOptions.config.bodyTimeoutMs ?? limitMs);
    timer.unref();
    const stop = () => clearTimeout(timer);
    raw.once("end", stop);
    raw.once("close", stop);
    // Many requests are answered before their body was read. The server's own limit holds for what still arrives then.
    reply.raw.once("finish", stop);
  });
}
