/** The baselines for streaming, each run as a child process: a byte-for-byte proxy, and the SDK's iterator re-emitting each chunk. */
import proxy from "@fastify/http-proxy";
import Fastify from "fastify";
import OpenAI from "openai";

async function start(kind: string, upstream: string): Promise<void> {
  const app = Fastify();
  if (kind === "proxy") await app.register(proxy, { upstream });
  else {
    const client = new OpenAI({ apiKey: "bench", baseURL: upstream, maxRetries: 0 });
    app.post("/*", async (_request, reply) => {
      const stream = await client.chat.completions.create({
        model: "gpt-5-mini",
        messages: [{ role: "user", content: "What is a tessera?" }],
        stream: true,
        stream_options: { include_usage: true },
      });
      reply.hijack();
      reply.raw.writeHead(200, { "content-type": "text/event-stream" });
      for await (const chunk of stream) reply.raw.write(`data: ${JSON.stringify(chunk)}\n\n`);
      reply.raw.end("data: [DONE]\n\n");
    });
  }
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  process.send?.({ port: Number(new URL(url).port) });
}

const [kind = "", upstream = ""] = process.argv.slice(2);
await start(kind, upstream);
