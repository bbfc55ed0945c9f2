/** The model provider for the streaming benchmarks: 200 chunks at full speed, or 20 chunks 20 ms apart. Runs as a child process. */
import { createServer } from "node:http";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";

export const chunksPerAnswer = 200;
/** The path selects the pace, so that product and baseline can use the same server. */
export const pacedPrefix = "/paced/v1";
export const fastPrefix = "/fast/v1";
const tokenMs = 20;
/** Only the first one is measured. */
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
      // Wait before each chunk: chunks written in the same turn of the event loop would be sent as one packet.
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
