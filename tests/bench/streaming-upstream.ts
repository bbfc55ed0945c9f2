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

/** What an answer is made of in each protocol: a beginning, one chunk again and again, an end. */
interface Script {
  begin: Buffer;
  chunk: Buffer;
  end: Buffer;
}

/** In HTTP's chunked coding, so that Node only has to send it: the upstream's own work would count in the measured times. */
const coded = (text: string) => Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);

/** The providers send each event's type twice, and Anthropic's package ignores events that have it only in their data. */
const frame = (event: { type: string; [field: string]: unknown }) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const counts = { input_tokens: 20, output_tokens: chunksPerAnswer };

function chatScript(): Script {
  const head = 'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5-mini","choices":';
  const usage = `${head}[],"usage":{"prompt_tokens":20,"completion_tokens":${chunksPerAnswer},"total_tokens":${chunksPerAnswer + 20}}}\n\ndata: [DONE]\n\n`;
  return {
    begin: coded(`${head}[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}\n\n`),
    chunk: coded(`${head}[{"index":0,"delta":{"content":" tessera"},"finish_reason":null}],"usage":null}\n\n`),
    end: coded(`${head}[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}\n\n${usage}`),
  };
}

function responsesScript(): Script {
  const place = { item_id: "msg_bench", output_index: 0, content_index: 0 };
  const response = { id: "resp_bench", object: "response", status: "in_progress", model: "bench", output: [], usage: null };
  return {
    begin: coded(frame({ type: "response.created", sequence_number: 0, response })),
    chunk: coded(frame({ type: "response.output_text.delta", sequence_number: 1, ...place, delta: " tessera", logprobs: [] })),
    end: coded(frame({ type: "response.completed", sequence_number: 2, response: { ...response, status: "completed", usage: counts } })),
  };
}

function messagesScript(): Script {
  const message = {
    id: "msg_bench",
    type: "message",
    role: "assistant",
    content: [],
    model: "bench",
    usage: { ...counts, output_tokens: 1 },
  };
  return {
    begin: coded(
      frame({ type: "message_start", message }) +
        frame({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ),
    chunk: coded(frame({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: " tessera" } })),
    end: coded(
      frame({ type: "content_block_stop", index: 0 }) +
        frame({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: counts }) +
        frame({ type: "message_stop" }),
    ),
  };
}

/** By the end of the address. */
const scripts: readonly (readonly [string, Script])[] = [
  ["/chat/completions", chatScript()],
  ["/responses", responsesScript()],
  ["/messages", messagesScript()],
];

function start(): void {
  const server = createServer(async (request, response) => {
    request.resume();
    const paced = request.url?.startsWith(pacedPrefix) ?? false;
    const pauseMs = paced ? tokenMs : 0;
    const chunks = paced ? pacedChunks : chunksPerAnswer;
    const script = scripts.find(([ending]) => request.url?.endsWith(ending))?.[1];
    if (!script) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream", "transfer-encoding": "chunked" }).flushHeaders();
    const { socket } = request;
    socket.write(script.begin);
    for (let sent = 0; sent < chunks && !response.destroyed; sent += 1) {
      // Wait before each chunk: chunks written in the same turn of the event loop would be sent as one packet.
      await (pauseMs > 0 ? delay(pauseMs) : nextTurn());
      socket.write(script.chunk);
    }
    socket.write(script.end);
    response.end();
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object" && address) process.send?.({ port: address.port });
  });
}

if (import.meta.main) start();
