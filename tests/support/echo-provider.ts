/** A model provider whose answers are what it was asked, in small pieces. */
import type { IncomingMessage } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

export interface EchoProvider {
  /** Makes the product ask it instead of OpenAI. */
  environment: NodeJS.ProcessEnv;
  /** Between two pieces; 0 for none. */
  pace: { milliseconds: number };
  close(): void;
}

async function questionIn(request: IncomingMessage): Promise<string> {
  const { messages } = JSON.parse(await text(request)) as { messages: { role: string; content: string }[] };
  return messages.findLast(({ role }) => role === "user")?.content ?? "";
}

/** Pieces of one to seven characters: a tag, an address or a fence comes in several. */
function* piecesOf(whole: string): Generator<string> {
  const characters = [...whole];
  for (let from = 0, length = 1; from < characters.length; from += length, length = (length % 7) + 1)
    yield characters.slice(from, from + length).join("");
}

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;

export async function startEchoProvider(): Promise<EchoProvider> {
  const pace = { milliseconds: 0 };
  const server = createServer(async (request, response) => {
    const question = await questionIn(request);
    response.setHeader("content-type", "text/event-stream");
    for (const content of piecesOf(question)) {
      response.write(event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }));
      if (pace.milliseconds > 0) await pause(pace.milliseconds);
    }
    response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
    response.end("data: [DONE]\n\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    environment: { OPENAI_API_KEY: "key of the tests", OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` },
    pace,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
