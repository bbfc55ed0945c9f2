/** The baselines for streaming, each run as a child process: a byte-for-byte proxy, and an SDK's iterator re-emitting each event. */

import Anthropic from "@anthropic-ai/sdk";
import proxy from "@fastify/http-proxy";
import Fastify from "fastify";
import OpenAI from "openai";
import type { ModelProtocol } from "#domain/models.ts";

/** Those that stream text. */
export type TextProtocol = Extract<ModelProtocol, "openai-chat" | "openai-responses" | "anthropic-messages">;

const messages = [{ role: "user" as const, content: "What is a tessera?" }];

/** Asks with the SDK of whoever made the protocol. */
const sdks: Readonly<Record<TextProtocol, (upstream: string) => () => Promise<AsyncIterable<object>>>> = {
  "openai-chat": (upstream) => {
    const client = new OpenAI({ apiKey: "bench", baseURL: upstream, maxRetries: 0 });
    return () => client.chat.completions.create({ model: "bench", messages, stream: true, stream_options: { include_usage: true } });
  },
  "openai-responses": (upstream) => {
    const client = new OpenAI({ apiKey: "bench", baseURL: upstream, maxRetries: 0 });
    return () => client.responses.create({ model: "bench", input: messages, stream: true });
  },
  "anthropic-messages": (upstream) => {
    const client = new Anthropic({ apiKey: "bench", baseURL: upstream.replace(/\/v1$/, ""), maxRetries: 0 });
    return () => client.messages.create({ model: "bench", max_tokens: 1_000, messages, stream: true });
  },
};

async function start(kind: string, upstream: string): Promise<void> {
  const app = Fastify();
  if (kind === "proxy") await app.register(proxy, { upstream });
  else {
    const ask = sdks[kind as TextProtocol](upstream);
    app.post("/*", async (_request, reply) => {
      const stream = await ask();
      reply.hijack();
      reply.raw.writeHead(200, { "content-type": "text/event-stream" });
      for await (const event of stream) reply.raw.write(`data: ${JSON.stringify(event)}\n\n`);
      reply.raw.end("data: [DONE]\n\n");
    });
  }
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  process.send?.({ port: Number(new URL(url).port) });
}

const [kind = "", upstream = ""] = process.argv.slice(2);
await start(kind, upstream);
