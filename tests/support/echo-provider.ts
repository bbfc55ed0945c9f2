/** A model provider whose answers are what it was asked, in small pieces. */
import type { IncomingMessage } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { dialects, frameOf } from "./dialects.ts";

export interface EchoProvider {
  /** Makes the product ask it instead of OpenAI. */
  environment: NodeJS.ProcessEnv;
  /** Between two pieces; 0 for none. */
  pace: { milliseconds: number };
  close(): void;
}

async function questionIn(request: IncomingMessage): Promise<string> {
  type Messages = { role: string; content: string }[];
  const { messages, input } = JSON.parse(await text(request)) as { messages?: Messages; input?: Messages };
  return (messages ?? input ?? []).findLast(({ role }) => role === "user")?.content ?? "";
}

/** Pieces of one to seven characters: a tag, an address or a fence comes in several. */
function* piecesOf(whole: string): Generator<string> {
  const characters = [...whole];
  for (let from = 0, length = 1; from < characters.length; from += length, length = (length % 7) + 1)
    yield characters.slice(from, from + length).join("");
}

export async function startEchoProvider(): Promise<EchoProvider> {
  const pace = { milliseconds: 0 };
  const server = createServer(async (request, response) => {
    const question = await questionIn(request);
    const dialect = dialects.find(({ path }) => path === request.url);
    if (!dialect) return void response.writeHead(404).end();
    response.setHeader("content-type", "text/event-stream");
    response.write(dialect.begin.map(frameOf).join(""));
    for (const piece of piecesOf(question)) {
      response.write(frameOf(dialect.text(piece)));
      if (pace.milliseconds > 0) await pause(pace.milliseconds);
    }
    response.end(dialect.end("complete").map(frameOf).join("") + dialect.closing);
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
