/** The provider of the streaming figures: 200 chunks an answer, each its own write, at full speed or 20 ms apart. Run as a child process. */
import { createServer } from "node:http";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";

export const chunksPerAnswer = 200;
/** Named in the path, so that both sides of a figure ask the same server. */
export const pacedPrefix = "/paced/v1";
export const fastPrefix = "/fast/v1";
const tokenMs = 20;
/** Enough to see the first of. */
const pacedChunks = 20;

const head = 'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5-mini","choices":';
const role = `${head}[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}\n\n`;
const chunk = `${head}[{"index":0,"delta":{"content":" tessera"},"finish_reason":null}],"usage":null}\n\n`;
const finish = `${head}[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}\n\n`;
const usage = `${head}[],"usage":{"prompt_tokens":20,"completion_tokens":${chunksPerAnswer},"total_tokens":${chunksPerAnswer + 20}}}\n\ndata: [DONE]\n\n`;

function start(): void {
  const server = createServer(async (request, response) => {
    request.resume();
    const paced = request.url?.startsWith(pacedPrefix) ?? false;
    const pauseMs = paced ? tokenMs : 0;
    const chunks = paced ? pacedChunks : chunksPerAnswer;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(role);
    for (let sent = 0; sent < chunks && !response.destroyed; sent += 1) {
      // A turn of the loop for each, as tokens leave a model: written in one go they would be one packet, and no chunks.
      await (pauseMs > 0 ? delay(pauseMs) : nextTurn());
      response.write(chunk);
    }
    response.write(finish);
    response.end(usage);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object" && address) process.send?.({ port: address.port });
  });
}

if (import.meta.main) start();
